package bulk_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/goldentest"
)

var update = flag.Bool("update", false, "write the golden file of the plan anew")

// TestGoldenPlanOfARow makes a contacts.Plan (the description of a write) from a row, and
// compares it with a golden file.
func TestGoldenPlanOfARow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.SyncNow(t)
	b.Want(t, "contacts_upsert_by_external_id", `{"external_id":"1","email":"ada@example.com"}`)
	const row = `{"external_id":"1","email":"ada@example.com","attributes":{"age":"37"},"lists":["beta"],"unsubscribe_all":null}`
	plan, err := b.Bulk.PlanOfRow(t.Context(), b.Org.ID, row)
	if err != nil {
		t.Fatal(err)
	}
	printed, err := json.MarshalIndent(plan, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	list, err := b.DB.Lists().List(t.Context(), b.Org.ID, "beta")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(row+"\n"+string(printed)+"\n", list.ID, "the id of beta")
	golden := filepath.Join("testdata", "plan_of_row.txt")
	if *update {
		if err := goldentest.Write(golden, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("the plan (-golden +now):\n%s", diff)
	}
}
