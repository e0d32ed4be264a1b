package segments_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate/predicatetest"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	segmentsstore "github.com/mailhelm/mailhelm/storage/segments"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"github.com/mailhelm/mailhelm/storage/storagetest/placement"
	"pgregory.net/rapid"
)

// TestPredicatesHaveOnePlace checks that the SQL of random predicates is about one
// organization. The SQL is composed, so that it is not among the registered statements.
func TestPredicatesHaveOnePlace(t *testing.T) {
	t.Parallel()
	conn, err := storagetest.Postgres(t).Writer().Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }() // the database is dropped
	places, err := placement.Open(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	drawn := rapid.Custom(func(t *rapid.T) drawnCase {
		c := predicatetest.Cases(1, 8).Draw(t, "case")
		return drawnCase{Case: c, slots: drawSlots(t, c.Schema)}
	})
	const rounds = 40
	for round := range enginetest.Share(rounds) {
		c := drawn.Example(round)
		for i, p := range c.Predicates {
			q := segments.Question{OrgID: core.NewID(), Predicate: p, Slots: c.slots, Now: predicatetest.Now}
			if i%2 == 1 { // as for changed contacts
				q.Contacts = []string{core.NewID()}
			}
			text, _, err := segmentsstore.PredicateSQL("postgres", q)
			if err != nil {
				t.Fatal(err)
			}
			faults, err := places.Faults(t.Context(), text)
			if err != nil || len(faults) > 0 {
				t.Fatalf("%s: %v %v\n%s", p, faults, err, text)
			}
		}
	}
}

// drawnCase is a case with columns for some of its attributes.
type drawnCase struct {
	predicatetest.Case
	slots map[string]string
}
