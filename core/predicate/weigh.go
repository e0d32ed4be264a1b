package predicate

// Weight is the estimated cost of evaluating one predicate.
type Weight struct {
	// Contact is the number of steps for each contact, without the steps for events.
	Contact int
	// Sources has the kinds of events that the predicate reads, with the number of
	// evaluation steps for each event. Tests of the same kind of event in the same window
	// share one entry.
	Sources []SourceWeight
}

// SourceWeight is the number of evaluation steps for each event that Source selects. The
// Where of Source is nil, because tests that differ only in Where share one SourceWeight.
type SourceWeight struct {
	Source EventSource
	Steps  int
}

// textSteps is the cost of searching a text (starts with, ends with, contains), in
// evaluation steps. One step costs about as much as comparing two values.
const textSteps = 4

// Weigh returns how many steps the evaluation takes for each contact and for each event. A
// step costs about as much as comparing two values.
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

// add adds steps to the entry of the source s, and creates the entry if it does not exist.
// It ignores the where-condition of s.
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
