package predicate

// walk calls visit for n and all nodes below it, including where-conditions. event is
// the event of a where-condition, nil outside of one.
func walk(n Node, event *Event, visit func(Node, *Event)) {
	visit(n, event)
	switch n := n.(type) {
	case *And:
		for _, term := range n.Terms {
			walk(term, event, visit)
		}
	case *Or:
		for _, term := range n.Terms {
			walk(term, event, visit)
		}
	case *Not:
		walk(n.Term, event, visit)
	case *EventTest:
		if n.Source.Where != nil {
			walk(n.Source.Where, &n.Source.Event, visit)
		}
	}
}

// fieldOf returns the field that a node tests. ok is false if it tests none. The field
// of an aggregate does not count, because it is not the contact's.
func fieldOf(n Node) (f Field, ok bool) {
	switch n := n.(type) {
	case *Compare:
		return n.Field, true
	case *In:
		return n.Field, true
	case *Match:
		return n.Field, true
	case *Known:
		return n.Field, true
	case *Age:
		return n.Field, true
	}
	return Field{}, false
}
