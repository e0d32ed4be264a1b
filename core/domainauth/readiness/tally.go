package readiness

import (
	"cmp"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/figures"
)

// tally has the sums of a window.
type tally struct {
	// covered is the number of covered days.
	covered int64
	// reporters is the number of reporters.
	reporters int64
	// total is the number of messages of all sources, aligned the number of those that passed.
	total, aligned int64
	// sources has the sources with messages, by id.
	sources []sourceTally
}

// sourceTally has the messages of one source in the window.
type sourceTally struct {
	figures.Source
	// registered reports whether the source is among the registered ones.
	registered bool
	aligned    int64
	// Failing messages are either broken by a relay or repairable: the source's set-up can
	// prevent their failure.
	relayBroken, repairable int64
}

// failing returns the number of failing messages.
func (s sourceTally) failing() int64 { return figures.Add(s.relayBroken, s.repairable) }

// tallyOf adds the figures of the days from from to to, which is not counted.
func tallyOf(f Figures, from, to time.Time) tally {
	inside := func(t time.Time) bool { return !t.Before(from) && t.Before(to) }
	days, reporters := map[time.Time]bool{}, map[string]bool{}
	for _, c := range f.Coverage {
		if inside(c.Day) {
			days[figures.DayOf(c.Day)], reporters[c.Reporter] = true, true
		}
	}
	registry := registryOf(f.Sources)
	sums := map[string]*sourceTally{}
	var t tally
	for _, row := range f.Rows {
		if row.Messages <= 0 || !inside(row.Day) {
			continue
		}
		days[figures.DayOf(row.Day)] = true
		sum := sums[row.Source]
		if sum == nil {
			_, registered := registry[row.Source]
			sum = &sourceTally{Source: registry.Source(row.Source), registered: registered}
			sums[row.Source] = sum
		}
		t.total = figures.Add(t.total, row.Messages)
		switch {
		case row.Aligned:
			t.aligned, sum.aligned = figures.Add(t.aligned, row.Messages), figures.Add(sum.aligned, row.Messages)
		case row.RelayBroken:
			sum.relayBroken = figures.Add(sum.relayBroken, row.Messages)
		default:
			sum.repairable = figures.Add(sum.repairable, row.Messages)
		}
	}
	t.covered, t.reporters = int64(len(days)), int64(len(reporters))
	for _, sum := range sums {
		t.sources = append(t.sources, *sum)
	}
	slices.SortFunc(t.sources, func(a, b sourceTally) int { return cmp.Compare(a.ID, b.ID) })
	return t
}

func registryOf(sources []Source) figures.Registry {
	plain := make([]figures.Source, len(sources))
	for i, s := range sources {
		plain[i] = s.Source
	}
	return figures.Register(plain)
}
