package partitions

import (
	"context"
	"time"
)

// ManyRest is the number up to which rows of the default partition are counted.
const ManyRest = 10_000

// State is the state of a table for the operator.
type State struct {
	Table string
	// Divided is true if the table has partitions. Moving is true if it has rows and is about to
	// get them.
	Divided, Moving bool
	// Months is the number of partitions of a month. Missing has those of the present month and the
	// next one that are missing.
	Months  int
	Missing []string
	// Rest is the number of rows of the default partition, at most 10,000.
	Rest int
	// Loose has the names of detached partitions that are not dropped yet.
	Loose []string
}

// States returns the state of each table, or none on SQLite.
func (k Keeper) States(ctx context.Context, now time.Time) ([]State, error) {
	if !k.divides() {
		return nil, nil
	}
	var states []State
	err := do(ctx, k.from, false, func(tx transaction) error {
		for _, t := range Tables() {
			s, err := read(ctx, tx, t)
			if err != nil {
				return err
			}
			state := State{Table: t.Name, Divided: s.divided, Moving: s.moving != (month{}), Months: len(s.months)}
			for _, m := range s.loose {
				state.Loose = append(state.Loose, t.of(m))
			}
			if s.divided {
				for _, m := range s.missing(monthOf(now).next()) {
					if !m.Before(monthOf(now).Time) {
						state.Missing = append(state.Missing, t.of(m))
					}
				}
			}
			if s.rest {
				if state.Rest, err = countUpTo(ctx, tx, t.rest(), "TRUE", ManyRest); err != nil {
					return err
				}
			}
			states = append(states, state)
		}
		return nil
	})
	return states, err
}
