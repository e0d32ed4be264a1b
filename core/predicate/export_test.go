package predicate

// Source returns the text that the tree was parsed from.
func (t *Tree) Source() string { return t.text }

// ParsePrefix parses the longest predicate that begins at an offset (from) in a larger
// text, such as a workflow. next is the offset of the first word after the predicate.
// Positions in the tree and in errors refer to the larger text.
func ParsePrefix(source string, from int) (tree *Tree, next int, err error) {
	p := newParser(source)
	if p.fault == nil {
		p.at = from
		p.tok = p.next()
	}
	root := p.predicate()
	if p.fault != nil {
		return nil, 0, p.fault.dropLongSuggestion()
	}
	return &Tree{Root: root, text: source}, p.tok.start, nil
}
