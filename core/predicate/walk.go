package predicate

// walk calls visit for n and all nodes below it, including those in where-conditions. The
// event passed to visit is the one whose where-condition contains the node; nil outside of
// where.
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

// FieldOf returns the field that a node compares or tests. ok is false if the node tests no
// field. That includes event tests: the property that an event test aggregates does not
// count as a field here.
func FieldOf(n Node) (f Field, ok bool) {
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
