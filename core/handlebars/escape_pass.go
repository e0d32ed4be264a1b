package handlebars

import "github.com/mailhelm/mailhelm/core/htmlcontext"

// escapePass follows the HTML of a template through the arms of its blocks, and sets how
// each value is escaped.
type escapePass struct {
	faults *faultList
}

func (p *escapePass) run(root *program) { p.program(root, htmlcontext.Context{}) }

func (p *escapePass) program(body *program, at htmlcontext.Context) htmlcontext.Context {
	for _, n := range body.body {
		switch n.kind {
		case nodeText:
			if i, fault := at.Advance(n.text); fault != "" {
				p.faults.add(n.at+n.skipped+i, CodeContext, "%s", fault)
			}
		case nodeValue:
			p.value(n, &at, n.raw)
		case nodeAsset:
			p.value(n, &at, false)
			n.escape = n.escape.Trusted()
		case nodeBlock:
			at = p.block(n, at)
		case nodeEmpty:
		}
	}
	return at
}

func (p *escapePass) value(n *node, at *htmlcontext.Context, raw bool) {
	found, fault := at.Value(raw)
	if fault != "" {
		p.faults.add(n.at, CodeContext, "%s", fault)
	}
	n.escape = found
}

// block returns the place after a block.
func (p *escapePass) block(n *node, at htmlcontext.Context) htmlcontext.Context {
	main := at
	if n.name == "each" {
		main.BeforeLoop()
	}
	end := p.program(n.main, main)
	if n.name == "each" && !main.Repeats(end) {
		p.faults.add(n.at, CodeContext, "the block `each` begins %s and ends %s, so it cannot be repeated; it must end where it begins", main.Words(), end.Words())
		end = at
	}
	other := at
	if n.other != nil {
		other = p.program(n.other, at)
	}
	joined, ok := htmlcontext.Join(end, other)
	if !ok {
		p.faults.add(n.at, CodeContext, "the arms of the block %s end in different places of the HTML, one %s and another %s; an arm that is missing is empty",
			quote(n.name), end.Words(), other.Words())
		return end
	}
	return joined
}
