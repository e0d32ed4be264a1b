package engine_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/storage/engine"
)

func TestOpenSlots(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"SELECT 1":                                 "SELECT 1",
		"SELECT a/*pg ::json*/ -> 'b'":             "SELECT a ::json -> 'b'",
		"SELECT 1 /*pg FOR UPDATE*/ /*pg NOWAIT*/": "SELECT 1  FOR UPDATE  NOWAIT",
		"/*pg\nCREATE DOMAIN d AS text;\n*/":       "\nCREATE DOMAIN d AS text;\n",
	} {
		if got := engine.OpenSlots(text); got != want {
			t.Errorf("OpenSlots(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestParametersOfLimitAndLike checks that the SQL text for SQLite has a plus before the
// parameters of LIMIT and LIKE, and the text for PostgreSQL does not.
func TestParametersOfLimitAndLike(t *testing.T) {
	t.Parallel()
	const text = `SELECT a FROM b WHERE c LIKE $1 ESCAPE '\' AND d = $2 LIMIT $3`
	if got, want := engine.SQLite.Text(text), `SELECT a FROM b WHERE c LIKE +$1 ESCAPE '\' AND d = $2 LIMIT +$3`; got != want {
		t.Errorf("on SQLite %q, want %q", got, want)
	}
	if got := engine.PostgreSQL.Text(text); got != text {
		t.Errorf("on PostgreSQL %q, want it unchanged", got)
	}
}
