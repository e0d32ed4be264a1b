// Package installation stores what all processes of an installation must know.
package installation

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/installation"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// store is [installation.Store].
type store struct{ db *engine.DB }

// New returns the store of facts on the database.
func New(db *engine.DB) installation.Store { return store{db} }

var (
	installationFact = engine.Register("installation fact", `SELECT value FROM installation_facts WHERE name = $1`)
	setFact          = engine.Register("set installation fact", `
		INSERT INTO installation_facts (name, value, updated_at) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`)
)

// factRow is the value of a fact.
type factRow struct {
	Value string `db:"value"`
}

func (s store) Fact(ctx context.Context, name string) (string, error) {
	row, err := engine.One[factRow](ctx, s.db, "fact", installationFact, name)
	if core.IsNotFound(err) {
		return "", nil
	}
	return row.Value, err
}

func (s store) SetFact(ctx context.Context, name, value string, at time.Time) error {
	_, err := s.db.Exec(ctx, setFact, name, value, engine.At(at))
	return err
}
