package installation_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestFactsAreReplaced(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		facts := db.Installation()
		if value, err := facts.Fact(t.Context(), "addresses"); value != "" || err != nil {
			t.Errorf("unknown fact: %q, %v", value, err)
		}
		for _, value := range []string{"first", "second"} {
			if err := facts.SetFact(t.Context(), "addresses", value, time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
			if got, err := facts.Fact(t.Context(), "addresses"); got != value || err != nil {
				t.Errorf("%q, %v, want %q", got, err, value)
			}
		}
	})
}
