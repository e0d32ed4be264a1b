package predicate

// Tree is a predicate with valid syntax that is within all limits. Its names are not
// resolved; Check resolves them.
type Tree struct {
	// Root is the whole predicate.
	Root Node
	text string
}

// Source returns the text that the tree was parsed from.
func (t *Tree) Source() string { return t.text }

// Position returns the line and column of an offset in the source. Both count from 1;
// columns count characters.
func (t *Tree) Position(at Offset) (line, column int) { return position(t.text, at) }

// String returns the predicate in its canonical spelling: one space between words, no
// unneeded parentheses, no comments. Parsing the result gives a tree that differs only in
// its offsets and its source.
func (t *Tree) String() string { return printNode(t.Root) }

// Parse parses the text of a predicate. It fails with an [*Error] at the first fault. It is
// safe for untrusted text: it does not panic, and the memory it uses is limited by
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

// ParsePrefix parses the longest predicate that begins at an offset (from) in a larger
// text, such as a workflow. next is the offset of the first word after the predicate.
// Positions in the tree and in errors refer to the larger text.
func ParsePrefix(source string, from int) (tree *Tree, next int, err error) {
	p := newParser(source, from)
	root := p.predicate()
	if p.fault != nil {
		return nil, 0, p.fault.dropLongSuggestion()
	}
	return &Tree{Root: root, text: source}, p.tok.start, nil
}
