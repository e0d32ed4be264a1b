package predicate

// Tree is a predicate with valid syntax that is within all limits. Its names are not
// resolved; see Check.
type Tree struct {
	// Root is the whole predicate.
	Root Node
	text string
}

// Source returns the text that the tree was parsed from.
func (t *Tree) Source() string { return t.text }

// Position returns the line and column of an offset, in characters and from 1.
func (t *Tree) Position(at Offset) (line, column int) { return position(t.text, at) }

// String returns the predicate in its canonical spelling, which parses to an equal tree:
// one space between words, no unneeded parentheses, no comments.
func (t *Tree) String() string { return printNode(t.Root) }

// Parse parses a whole predicate. It fails with an [*Error] at the first fault. It is
// safe for any text: it neither panics nor uses more memory than a small multiple of
// [MaxSource].
func Parse(source string) (*Tree, error) {
	p := newParser(source, 0)
	root := p.predicate()
	if p.fault == nil && p.tok.kind != tokenEnd {
		p.failExpecting(`"and", "or" or the end` + p.misplacedHint())
	}
	if p.fault != nil {
		return nil, p.fault.dropLongSuggestion()
	}
	return &Tree{Root: root, text: source}, nil
}

// ParsePrefix parses the longest predicate that begins at the offset from of a larger
// source, such as a workflow. It returns the offset of the next word after it.
// Positions, in the tree and in errors, are those of the larger source.
func ParsePrefix(source string, from int) (tree *Tree, next int, err error) {
	p := newParser(source, from)
	root := p.predicate()
	if p.fault != nil {
		return nil, 0, p.fault.dropLongSuggestion()
	}
	return &Tree{Root: root, text: source}, p.tok.start, nil
}
