package senders

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/storage/engine"
)

var (
	addOwner = engine.Register("insert owner of verified senders", `
		INSERT INTO verified_sender_starts (owner, started) VALUES ($1, $2) ON CONFLICT DO NOTHING`)
	// holdStarts lets the starts of one owner wait for each other on PostgreSQL. SQLite has one
	// writer at a time.
	holdStarts = engine.Register("hold starts of verified senders", `
		SELECT started FROM verified_sender_starts WHERE owner = $1 /*pg FOR UPDATE*/`)
	setStarts = engine.Register("set starts of verified senders", `
		UPDATE verified_sender_starts SET started = $1 WHERE owner = $2`)
)

// AddStart must be called in a transaction.
func (s Store) AddStart(ctx context.Context, owner string, at, since time.Time, most int) (time.Time, error) {
	none, err := engine.JSONParameter[engine.Time](nil)
	if err != nil {
		return time.Time{}, err
	}
	if _, err := s.db.Exec(ctx, addOwner, owner, none); err != nil {
		return time.Time{}, err
	}
	stored, err := engine.Values[string](ctx, s.db, holdStarts, owner)
	if err != nil {
		return time.Time{}, err
	}
	late, err := engine.DecodeList[engine.Time](stored[0])
	if err != nil {
		return time.Time{}, err
	}
	recent := []engine.Time{engine.At(at)}
	for _, t := range late {
		if t.Time().After(since) {
			recent = append(recent, t)
		}
	}
	if len(recent) > most {
		earliest := recent[1]
		for _, t := range recent[1:] {
			earliest = min(earliest, t)
		}
		return earliest.Time(), nil
	}
	started, err := engine.JSONParameter(recent)
	if err != nil {
		return time.Time{}, err
	}
	return time.Time{}, s.db.Change(ctx, "owner of verified senders", setStarts, started, owner)
}
