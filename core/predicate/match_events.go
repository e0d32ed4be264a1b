package predicate

// eventTest evaluates the event test n, in one pass over the contact's events.
func (e *evaluation) eventTest(n *EventTest) Truth {
	var f figures
	for i := range e.subject.Events {
		o := &e.subject.Events[i]
		if !e.isSelected(&n.Source, o) {
			continue
		}
		if n.Kind == Exists {
			return True
		}
		if e.add(&f, n, o) {
			f.count++
		}
	}
	switch n.Kind {
	case Exists:
		return False
	case Count:
		return truthOf(Holds(n.Op, float64(f.count), n.Number))
	}
	if f.count == 0 {
		return Unknown
	}
	switch n.Kind {
	case Last:
		return truthOf(Holds(n.Op, f.last, n.Time.At(e.at)))
	case First:
		return truthOf(Holds(n.Op, f.first, n.Time.At(e.at)))
	}
	return truthOf(Holds(n.Op, f.figure(n.Kind), n.Number))
}

// figures has the aggregates of the events counted so far. If count is 0, the other members
// have no meaning.
type figures struct {
	count          int
	sum, low, high float64
	first, last    int64
}

func (f *figures) figure(kind EventTestKind) float64 {
	switch kind {
	case Avg:
		return f.sum / float64(f.count)
	case Min:
		return f.low
	case Max:
		return f.high
	default:
		return f.sum
	}
}

// add adds the values of the event o to all aggregates except the count. It returns false
// if the aggregate of the test needs a property that o does not have.
func (e *evaluation) add(f *figures, n *EventTest, o *Occurrence) bool {
	if f.count == 0 {
		f.first, f.last = o.At, o.At
	}
	f.first, f.last = min(f.first, o.At), max(f.last, o.At)
	if n.Field.Name == "" {
		return true
	}
	e.occurrence = o
	v, known := e.value(n.Field)
	if !known {
		return false
	}
	if f.count == 0 {
		f.low, f.high = v.Number, v.Number
	}
	f.sum += v.Number
	f.low, f.high = min(f.low, v.Number), max(f.high, v.Number)
	return true
}

// isSelected reports whether the source s selects the event o: the event is of the right
// kind and inside the time windows, and the where-condition is True for it.
func (e *evaluation) isSelected(s *EventSource, o *Occurrence) bool {
	if o.Event != s.Event {
		return false
	}
	if s.HasWithin && (o.At > e.now || o.At < e.now-s.Within.Micros()) {
		return false
	}
	if s.HasBetween && (o.At < s.Between.From || o.At >= s.Between.Until) {
		return false
	}
	if s.Where == nil {
		return true
	}
	e.occurrence = o
	return e.node(s.Where) == True
}
