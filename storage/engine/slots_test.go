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
