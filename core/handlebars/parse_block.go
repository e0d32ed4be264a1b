package handlebars

import (
	"slices"

	"github.com/mailhelm/mailhelm/core"
)

// openBlock is a block whose end was not read yet.
type openBlock struct {
	name string
	// root is the block, and branch the block of its last {{else if}}, or root.
	root, branch *node
	// chain has the blocks of all {{else if}}.
	chain []*node
	// final is true after {{else}}.
	final bool
	// around is the program that contains the block.
	around *program
}

// openBlock parses {{#name value}}. The fault of an unknown block does not end the parsing
// of its content.
func (t *tag) openBlock() {
	t.nests = true
	unsupported := ""
	switch {
	case t.take(">"):
		unsupported = "blocks of partials"
	case t.take("*"):
		unsupported = "decorators and inline partials"
	}
	arguments, ok := t.arguments()
	if !ok {
		return
	}
	if unsupported != "" {
		t.unsupportedBlock(unsupported, arguments)
		return
	}
	if n, ok := t.block(arguments); ok {
		t.push(n)
	}
}

// push adds a block. What follows is its first arm.
func (t *tag) push(n *node) {
	n.openStrip = t.strip
	t.add(n)
	t.open = append(t.open, &openBlock{name: n.name, root: n, branch: n, around: t.into})
	t.into = n.main
	if len(t.open) == MaxDepth+1 {
		t.faults.add(t.start, CodeTooDeep, "blocks are nested more than %d deep", MaxDepth)
	}
}

// unsupportedBlock reports a kind of block that the language lacks, and parses its content.
func (t *tag) unsupportedBlock(what string, arguments []token) {
	t.parser.unsupported(t.start, what)
	if len(arguments) > 0 {
		t.push(&node{kind: nodeBlock, at: t.start, name: arguments[0].text, main: &program{}})
	}
}

// block returns the block of a name and one value. It returns false if there is no name.
func (t *tag) block(arguments []token) (*node, bool) {
	if len(arguments) == 0 {
		t.fail(t.start, CodeSyntax, "the block has no name; expected if, unless, each or with")
		return nil, false
	}
	name := arguments[0]
	n := &node{kind: nodeBlock, at: t.start, name: name.text, main: &program{}}
	switch {
	case !slices.Contains(blockNames, name.text):
		message := "there is no block %s; expected if, unless, each or with"
		if near := core.NearestWord(name.text, blockNames); near != "" {
			message += "; did you mean " + near + "?"
		}
		t.faults.add(name.at, CodeUnknownHelper, message, quote(name.text))
	case len(arguments) != 2:
		t.faults.add(t.start, CodeSyntax, "the block %s takes one value, such as %s", quote(name.text), quote("{{#"+name.text+" name}}"))
	default:
		n.path, _ = t.path(arguments[1])
	}
	return n, true
}

// inverse parses {{^}}, which means {{else}}.
func (t *tag) inverse() {
	t.nests = true
	arguments, ok := t.arguments()
	switch {
	case !ok:
	case len(arguments) > 0:
		t.unsupportedBlock("inverted blocks: write {{#unless name}} or {{else}}", arguments)
	default:
		t.otherwise(nil)
	}
}

// otherwise parses {{else}} and {{else if x}}.
func (t *tag) otherwise(arguments []token) {
	if len(t.open) == 0 {
		t.fail(t.start, CodeSyntax, "`else` is outside of a block")
		return
	}
	b := t.open[len(t.open)-1]
	if b.final {
		t.fail(t.start, CodeSyntax, "the block %s has an arm after its `{{else}}`", quote(b.name))
		return
	}
	other := &program{}
	b.branch.other, b.branch.inverseStrip = other, t.strip
	if len(arguments) == 0 {
		b.final, t.into = true, other
		return
	}
	n, _ := t.block(arguments)
	n.openStrip, n.closeStrip = t.strip, t.strip
	other.chained, other.body = true, []*node{n}
	b.branch, b.chain, t.into = n, append(b.chain, n), n.main
}

// closeBlock parses {{/name}}. If an outer block has the name, the blocks inside of it are
// reported as not closed.
func (t *tag) closeBlock() {
	t.nests = true
	arguments, ok := t.arguments()
	if !ok {
		return
	}
	if len(arguments) != 1 {
		t.fail(t.start, CodeSyntax, "a block is closed by its name, such as `{{/if}}`")
		return
	}
	name := arguments[0].text
	for i := len(t.open) - 1; i >= 0; i-- {
		if t.open[i].name != name {
			continue
		}
		for _, inner := range t.open[i+1:] {
			t.broken = true
			t.faults.add(inner.root.at, CodeSyntax, "the block %s is not closed; expected %s before %s",
				quote(inner.name), quote("{{/"+inner.name+"}}"), quote("{{/"+name+"}}"))
		}
		t.end(t.open[i])
		t.open = t.open[:i]
		return
	}
	if len(t.open) == 0 {
		t.fail(t.start, CodeSyntax, "%s closes a block that is not open", quote("{{/"+name+"}}"))
		return
	}
	innermost := t.open[len(t.open)-1].name
	t.fail(t.start, CodeSyntax, "%s closes a block that is not open; expected %s", quote("{{/"+name+"}}"), quote("{{/"+innermost+"}}"))
}

// end finishes a block. handlebars.js gives the marks of the last tag also to the first
// {{else if}}; the others keep their own.
func (t *tag) end(b *openBlock) {
	b.root.closeStrip = t.strip
	if len(b.chain) > 0 {
		b.chain[0].closeStrip = t.strip
	}
	t.into = b.around
}
