package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// maxDepth is the depth of arrays and objects in a JSON file.
const maxDepth = 32

// node is a JSON value that knows where it is in its file.
type node struct {
	// at is the offset of the value in bytes.
	at int
	// value is a string, a json.Number, a bool or nil; kind says what else the node is.
	value   any
	kind    nodeKind
	members []member
	items   []node
}

type nodeKind int

const (
	scalar nodeKind = iota
	object
	array
)

// member is a member of an object, in the order of the file.
type member struct {
	name string
	at   int
	node node
}

// syntaxError is what is wrong with the JSON of a file.
type syntaxError struct {
	at   int
	text string
}

func (e *syntaxError) Error() string { return e.text }

// parse reads a JSON file with at most left values, from which it subtracts those that it reads.
func parse(text []byte, left *int) (node, *syntaxError) {
	if !utf8.Valid(text) {
		return node{}, &syntaxError{0, "is not UTF-8"}
	}
	if bytes.HasPrefix(text, []byte("\xef\xbb\xbf")) {
		return node{}, &syntaxError{0, "begins with a byte order mark; save it as UTF-8 without one"}
	}
	p := parser{text: text, d: json.NewDecoder(bytes.NewReader(text)), left: left}
	p.d.UseNumber()
	root, err := p.value(0)
	if err != nil {
		return node{}, err
	}
	if at := p.next(); at < len(text) {
		return node{}, &syntaxError{at, "has text after the end of its JSON value"}
	}
	return root, nil
}

type parser struct {
	text []byte
	d    *json.Decoder
	left *int // the number of values that may still be read
}

// next returns the offset of the next token.
func (p *parser) next() int {
	at := int(p.d.InputOffset())
	for at < len(p.text) && bytes.IndexByte([]byte(" \t\r\n,:"), p.text[at]) >= 0 {
		at++
	}
	return at
}

// token reads a token.
func (p *parser) token() (json.Token, *syntaxError) {
	at := p.next()
	t, err := p.d.Token()
	if err == nil {
		return t, nil
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, &syntaxError{len(p.text), "ends before its JSON value is complete"}
	}
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		return nil, &syntaxError{min(max(int(s.Offset)-1, at), len(p.text)), "is no JSON: " + s.Error()}
	}
	return nil, &syntaxError{at, "is no JSON"}
}

// value reads a value.
func (p *parser) value(depth int) (node, *syntaxError) {
	n := node{at: p.next()}
	if depth > maxDepth {
		return n, &syntaxError{n.at, fmt.Sprintf("has values more than %d levels deep", maxDepth)}
	}
	if *p.left--; *p.left < 0 {
		return n, &syntaxError{n.at, fmt.Sprintf("makes the bundle have more than %d JSON values", maxValues)}
	}
	t, err := p.token()
	if err != nil {
		return n, err
	}
	switch t {
	case json.Delim('{'):
		n.kind = object
		return n, p.readMembers(&n, depth)
	case json.Delim('['):
		n.kind = array
		for p.d.More() {
			item, err := p.value(depth + 1)
			if err != nil {
				return n, err
			}
			n.items = append(n.items, item)
		}
		_, err = p.token()
		return n, err
	}
	n.value = t
	return n, nil
}

// readMembers reads the members of an object.
func (p *parser) readMembers(n *node, depth int) *syntaxError {
	seen := map[string]bool{}
	for p.d.More() {
		m := member{at: p.next()}
		t, err := p.token()
		if err != nil {
			return err
		}
		m.name, _ = t.(string)
		if seen[m.name] {
			return &syntaxError{m.at, fmt.Sprintf("has the member %q twice", m.name)}
		}
		seen[m.name] = true
		if m.node, err = p.value(depth + 1); err != nil {
			return err
		}
		n.members = append(n.members, m)
	}
	_, err := p.token()
	return err
}

// place returns the line and the column of an offset, both from 1, the column in characters.
func place(text []byte, at int) (line, column int) {
	before := text[:min(at, len(text))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}
