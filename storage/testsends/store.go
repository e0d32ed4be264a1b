// Package testsends stores test sends. Their recipients are in package handover.
package testsends

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/testsends"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store stores test sends.
type Store struct{ db *engine.DB }

var _ testsends.Store = Store{}

// New returns the store of test sends on the database.
func New(db *engine.DB) Store { return Store{db} }

var (
	// lockOrg lets test sends of one organization wait for each other on PostgreSQL. SQLite
	// has one writer at a time.
	lockOrg = engine.Register("lock organization for a test send", `SELECT id FROM orgs WHERE id = $1 /*pg FOR UPDATE*/`)
	// lateTestSends selects the last $3 test sends since a time, the oldest of them last.
	lateTestSends = engine.Register("late test sends", `
		SELECT created_at FROM test_sends WHERE org_id = $1 AND created_at > $2 ORDER BY created_at DESC, id DESC LIMIT $3`)
	insertTestSend = engine.Register("insert test send", `
		INSERT INTO test_sends (org_id, id, subject_kind, subject_id, created_at, created_by_kind, created_by, user_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`)
)

// Begin must be called in a transaction.
func (s Store) Begin(ctx context.Context, orgID string, t testsends.TestSend, since time.Time, most int) (time.Time, error) {
	if _, err := engine.Values[string](ctx, s.db, lockOrg, orgID); err != nil {
		return time.Time{}, err
	}
	late, err := engine.Values[engine.Time](ctx, s.db, lateTestSends, orgID, engine.At(since), most)
	if err != nil {
		return time.Time{}, err
	}
	if len(late) >= most {
		return late[most-1].Time(), nil
	}
	return time.Time{}, s.db.Later(ctx, insertTestSend, orgID, t.ID, t.Kind, t.SubjectID, engine.At(t.At), t.ByKind, t.ByID, t.ByUser)
}
