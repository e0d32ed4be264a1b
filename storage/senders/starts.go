package senders

import (
	"context"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/senders"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var (
	// holdSubject lets the starts of one subject wait for each other on PostgreSQL, and keeps
	// forgetStarts from deleting the row. SQLite has one writer at a time.
	holdSubject = engine.Register("hold subject of starts of verified senders", `
		INSERT INTO verified_sender_starts (subject, started, latest) VALUES ($1, $2, $3)
		ON CONFLICT (subject) DO UPDATE SET latest = excluded.latest`)
	startsOf = engine.Register("starts of verified senders", `
		SELECT started FROM verified_sender_starts WHERE subject = $1`)
	setStarts = engine.Register("set starts of verified senders", `
		UPDATE verified_sender_starts SET started = $1 WHERE subject = $2`)
	// forgetStarts compares latest twice: on PostgreSQL the outer comparison is repeated for a row
	// that another transaction has changed, and the inner one is not.
	forgetStarts = engine.Register("forget starts of verified senders", `
		DELETE FROM verified_sender_starts WHERE latest < $1 AND subject IN (
			SELECT subject FROM verified_sender_starts WHERE latest < $1 LIMIT $2)`)
)

func (s Store) AddStart(ctx context.Context, subject string, at time.Time, limits ...senders.StartLimit) (time.Time, error) {
	none, err := engine.JSONParameter[engine.Time](nil)
	if err != nil {
		return time.Time{}, err
	}
	if _, err := s.db.Exec(ctx, holdSubject, subject, none, engine.At(at)); err != nil {
		return time.Time{}, err
	}
	stored, err := engine.Values[string](ctx, s.db, startsOf, subject)
	if err != nil {
		return time.Time{}, err
	}
	starts, err := engine.DecodeList[engine.Time](stored[0])
	if err != nil {
		return time.Time{}, err
	}
	next, kept := admit(starts, at, limits)
	if !next.IsZero() {
		return next, nil
	}
	started, err := engine.JSONParameter(append(kept, engine.At(at)))
	if err != nil {
		return time.Time{}, err
	}
	return time.Time{}, s.db.Change(ctx, "subject of starts of verified senders", setStarts, started, subject)
}

// admit returns when the limits allow the next start, the zero time for now, and the starts that
// one of the limits counts.
func admit(starts []engine.Time, at time.Time, limits []senders.StartLimit) (next time.Time, kept []engine.Time) {
	slices.Sort(starts)
	first := len(starts)
	for _, l := range limits {
		// The starts from i on are within the limit's duration.
		i, _ := slices.BinarySearch(starts, engine.At(at.Add(-l.Within))+1)
		first = min(first, i)
		if over := len(starts) - l.Most; over >= i {
			if free := starts[over].Time().Add(l.Within); free.After(next) {
				next = free
			}
		}
	}
	return next, starts[first:]
}

func (s Store) ForgetStarts(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.db.Exec(ctx, forgetStarts, engine.At(before), limit)
}
