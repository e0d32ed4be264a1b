package engine

import (
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// Admits reports whether a contact meets the condition of the trigger at the time.
func (p *Plan) Admits(subject predicate.Subject, now time.Time) bool {
	where := p.Settings().Where
	return where == nil || p.checked.Condition(where).Match(subject, now) == predicate.True
}

// Leaves reports whether a named exit matches a contact at the time.
func (p *Plan) Leaves(subject predicate.Subject, now time.Time) bool {
	return p.exitOf(subject, now) != nil
}

// exitOf returns the first named exit that matches a contact at the time, nil if none does.
func (p *Plan) exitOf(subject predicate.Subject, now time.Time) *language.Exit {
	exits := p.Settings().Exits
	for i := range exits {
		if p.checked.Condition(exits[i].When).Match(subject, now) == predicate.True {
			return &exits[i]
		}
	}
	return nil
}
