package handlebars

import (
	"slices"

	"github.com/mailhelm/mailhelm/core/htmlcontext"
)

// opcode says what an operation does.
type opcode uint8

const (
	// opText appends the text.
	opText opcode = iota
	// opValue appends the value of the path.
	opValue
	// opAsset appends the text, which is the tag as written. WithAssets replaces it.
	opAsset
	// opIf jumps if the value of the path is false, opUnless if it is true.
	opIf
	opUnless
	// opJump jumps.
	opJump
	// opEach begins a loop over the value of the path. It jumps if there is nothing.
	opEach
	// opNext continues the innermost loop and jumps to its body, or ends the loop.
	opNext
	// opWith makes the value of the path the current value. It jumps if there is none.
	opWith
	// opEndWith ends opWith.
	opEndWith
)

// operation is one step of a plan.
type operation struct {
	code   opcode
	escape htmlcontext.Escape
	// path is an index into the paths, variable one into the variables, or -1.
	path, variable int32
	// jump is the index of an operation.
	jump int32
	text string
	// asset is the path of an asset.
	asset string
}

// compiler writes the tree of a template as a plan.
type compiler struct {
	template  *Template
	variables variableList
	// blocks and scopes count the blocks around, scopes only each and with.
	blocks, scopes int
}

func compile(root *program) *Template {
	c := compiler{template: &Template{}, variables: variableList{index: map[string]int32{}}}
	c.program(root)
	c.template.variables = c.variables.found
	return c.template
}

func (c *compiler) program(p *program) {
	for _, n := range p.body {
		if n.kind == nodeText {
			c.text(n.text)
			continue
		}
		first := len(c.template.operations)
		c.node(n)
		if end := len(c.template.operations); c.blocks == 0 && end > first {
			c.template.slots = append(c.template.slots, slot{first, end})
		}
	}
}

// node writes a node that is not text.
func (c *compiler) node(n *node) {
	switch n.kind {
	case nodeValue:
		o := c.valued(opValue, n.path, c.blocks == 0)
		o.escape = n.escape
		c.emit(o)
	case nodeAsset:
		if !slices.Contains(c.template.assets, n.name) {
			c.template.assets = append(c.template.assets, n.name)
		}
		c.emit(operation{code: opAsset, text: n.text, asset: n.name, escape: n.escape})
	case nodeBlock:
		c.block(n)
	case nodeText, nodeEmpty:
	}
}

func (c *compiler) text(text string) {
	if text != "" {
		c.emit(operation{code: opText, text: text})
	}
}

func (c *compiler) emit(o operation) int {
	c.template.operations = append(c.template.operations, o)
	return len(c.template.operations) - 1
}

// valued returns an operation with a path.
func (c *compiler) valued(code opcode, p path, required bool) operation {
	c.template.paths = append(c.template.paths, p)
	return operation{code: code, path: int32(len(c.template.paths) - 1), variable: c.variables.note(p, c.scopes, required)}
}

// here sets the target of a jump to the next operation.
func (c *compiler) here(jump int) {
	c.template.operations[jump].jump = int32(len(c.template.operations))
}

func (c *compiler) block(n *node) {
	codes := map[string]opcode{"if": opIf, "unless": opUnless, "each": opEach, "with": opWith}
	start := c.emit(c.valued(codes[n.name], n.path, false))
	c.blocks++
	switch n.name {
	case "each":
		c.scopes++
		c.program(n.main)
		c.scopes--
		c.emit(operation{code: opNext, jump: int32(start) + 1})
	case "with":
		c.scopes++
		c.program(n.main)
		c.scopes--
		c.emit(operation{code: opEndWith})
	default:
		c.program(n.main)
	}
	if n.other != nil {
		end := c.emit(operation{code: opJump})
		c.here(start)
		c.program(n.other)
		c.here(end)
	} else {
		c.here(start)
	}
	c.blocks--
}
