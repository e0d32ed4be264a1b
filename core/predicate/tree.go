package predicate

// Tree is a predicate with valid syntax that is within all limits. Its names are not
// resolved; Check resolves them.
type Tree struct {
	// Root is the whole predicate.
	Root Node
	text string
}

// Position returns the line and column of an offset in the source. Both count from 1;
// columns count characters.
func (t *Tree) Position(at Offset) (line, column int) { return position(t.text, at) }

// String returns the predicate in its canonical spelling: one space between words, no
// unneeded parentheses, no comments. Parsing the result gives a tree that differs only in
// its offsets and its source.
func (t *Tree) String() string { return Canonical(t.Root) }

// Parse parses the text of a predicate. It fails with an [*Error] at the first fault. It is
// safe for untrusted text: it does not panic, and the memory it uses is limited by
// [MaxSource].
func Parse(source string) (*Tree, error) {
	p := newParser(source)
	root := p.predicate()
	if p.fault == nil && p.tok.kind != tokenEnd {
		p.failExpecting(`"and", "or" or the end` + p.misplacedHint())
	}
	if p.fault != nil {
		return nil, p.fault.dropLongSuggestion()
	}
	return &Tree{Root: root, text: source}, nil
}
