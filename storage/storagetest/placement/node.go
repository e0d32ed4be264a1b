package placement

import (
	"fmt"
	"strconv"
	"strings"
)

// node is a node of a query tree as PostgreSQL writes it in pg_proc.prosqlbody, such as
// {VAR :varno 1 :varattno 2}. The text of a list is (a b), and of an absent node <>.
type node struct {
	// kind is "VAR" or the like. It is empty for a list and for a plain value.
	kind   string
	fields map[string]*node
	items  []*node // of a list
	text   string  // of a plain value
}

// field returns a field of the node, or an empty node.
func (n *node) field(name string) *node {
	if f := n.fields[name]; f != nil {
		return f
	}
	return &node{}
}

// number returns a field that is an integer, and 0 for an absent one.
func (n *node) number(name string) int {
	i, _ := strconv.Atoi(n.field(name).text) // the text of every other field is no integer
	return i
}

// isTrue reports whether a boolean field is true.
func (n *node) isTrue(name string) bool { return n.field(name).text == "true" }

// parseNode reads the text of one query tree.
func parseNode(text string) (*node, error) {
	p := &nodeParser{rest: text}
	n, err := p.value()
	if err != nil {
		return nil, err
	}
	if p.skip(); p.rest != "" {
		return nil, fmt.Errorf("placement: text after the query tree: %.40q", p.rest)
	}
	return n, nil
}

type nodeParser struct{ rest string }

func (p *nodeParser) skip() { p.rest = strings.TrimLeft(p.rest, " \n") }

// value reads a node, a list or a plain value.
func (p *nodeParser) value() (*node, error) {
	p.skip()
	switch {
	case p.rest == "":
		return nil, fmt.Errorf("placement: the query tree ends in the middle")
	case p.rest[0] == '{':
		return p.object()
	case p.rest[0] == '(':
		return p.list()
	}
	return &node{text: p.token()}, nil
}

func (p *nodeParser) object() (*node, error) {
	p.rest = p.rest[1:]
	n := &node{kind: p.token(), fields: map[string]*node{}}
	for {
		p.skip()
		if strings.HasPrefix(p.rest, "}") {
			p.rest = p.rest[1:]
			return n, nil
		}
		name := p.token()
		if !strings.HasPrefix(name, ":") {
			return nil, fmt.Errorf("placement: %q is no field of %s", name, n.kind)
		}
		first, err := p.value()
		if err != nil {
			return nil, err
		}
		n.fields[name[1:]] = first
		// A constant has several tokens: its length and its bytes in brackets.
		for p.skip(); p.rest != "" && p.rest[0] != ':' && p.rest[0] != '}'; p.skip() {
			if _, err := p.value(); err != nil {
				return nil, err
			}
		}
	}
}

func (p *nodeParser) list() (*node, error) {
	p.rest = p.rest[1:]
	n := &node{}
	for {
		p.skip()
		if strings.HasPrefix(p.rest, ")") {
			p.rest = p.rest[1:]
			return n, nil
		}
		item, err := p.value()
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, item)
	}
}

// token reads up to a space or a bracket. A backslash escapes the next character, and a text
// may be in quotation marks.
func (p *nodeParser) token() string {
	var b strings.Builder
	quoted := false
	i := 0
	for ; i < len(p.rest); i++ {
		c := p.rest[i]
		if c == '\\' && i+1 < len(p.rest) {
			i++
			b.WriteByte(p.rest[i])
			continue
		}
		if c == '"' {
			quoted = !quoted
			continue
		}
		if !quoted && (strings.IndexByte(" \n(){}", c) >= 0) {
			break
		}
		b.WriteByte(c)
	}
	p.rest = p.rest[i:]
	return b.String()
}
