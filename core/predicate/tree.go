package predicate

// Tree is a predicate that is well formed: its syntax is right and it keeps to all
// limits. Its names mean nothing yet; see Check.
type Tree struct {
	// Root is the whole predicate.
	Root Node
	text string
}

// Source is the text that the tree was parsed from.
func (t *Tree) Source() string { return t.text }

// Position is the line and the column, in characters and from 1, of a place in the
// source.
func (t *Tree) Position(at Offset) (line, column int) { return position(t.text, at) }

// String is the predicate in its one canonical spelling, which parses to an equal
// tree: one space between words, no parentheses that are not needed, no comments.
func (t *Tree) String() string { return printed(t.Root) }

// Parse reads a whole predicate. It fails with an [*Error], at the first fault. Any
// text may be given: it neither panics nor uses more than a small multiple of
// [MaxSource] in memory.
func Parse(source string) (*Tree, error) {
	p := newParser(source, 0)
	root := p.predicate()
	if p.fault == nil && p.tok.kind != tokenEnd {
		p.unexpected(`"and", "or" or the end` + p.misplaced())
	}
	if p.fault != nil {
		return nil, p.fault.bounded()
	}
	return &Tree{Root: root, text: source}, nil
}

// ParsePrefix reads the longest predicate that begins at the offset from of a larger
// source, a workflow, and returns where the next word after it begins. Positions, in
// the tree and in errors, are those of the larger source.
func ParsePrefix(source string, from int) (tree *Tree, next int, err error) {
	p := newParser(source, from)
	root := p.predicate()
	if p.fault != nil {
		return nil, 0, p.fault.bounded()
	}
	return &Tree{Root: root, text: source}, p.tok.start, nil
}
