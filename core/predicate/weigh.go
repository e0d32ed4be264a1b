package predicate

// Weight is the cost of evaluating one predicate.
type Weight struct {
	// Contact is the number of steps for each contact, without those for events.
	Contact int
	// Sources has the events that are read, with the steps for each of them. Tests of
	// the same events in the same window share one source.
	Sources []SourceWeight
}

// SourceWeight is the number of steps for each event of a source. Source has no
// condition.
type SourceWeight struct {
	Source EventSource
	Steps  int
}

// textSteps is the cost of a search in a text, in steps.
const textSteps = 4

// Weigh returns the steps that a predicate takes for each contact and for each event. A
// step is about the comparison of one value.
func (c *Checked) Weigh() Weight {
	var w Weight
	walk(c.Root, nil, func(n Node, event *Event) {
		test, ok := n.(*EventTest)
		switch {
		case ok:
			steps := 1
			if test.Source.Where != nil {
				walk(test.Source.Where, &test.Source.Event, func(n Node, _ *Event) { steps += stepsOf(n) })
			}
			w.add(test.Source, steps)
			w.Contact++
		case event == nil:
			w.Contact += stepsOf(n)
		}
	})
	return w
}

func stepsOf(n Node) int {
	switch n.(type) {
	case *And, *Or, *Not:
		return 0
	case *Match:
		return textSteps
	}
	return 1
}

// add adds steps for the events of a source.
func (w *Weight) add(s EventSource, steps int) {
	s.Where, s.Offset = nil, 0
	for i, known := range w.Sources {
		if known.Source == s {
			w.Sources[i].Steps += steps
			return
		}
	}
	w.Sources = append(w.Sources, SourceWeight{s, steps})
}
