package contactimport_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/contactfile"
	"github.com/mailhelm/mailhelm/core/contactimport"
	"github.com/mailhelm/mailhelm/core/contacts/contactstest"
	"github.com/mailhelm/mailhelm/core/contactupload"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// reluctant lets each part that is stored beside none wait for a moment, so that the next one
// would overtake it.
type reluctant struct {
	*bulk.Bulk
	begun chan struct{}
}

func (r *reluctant) Import(ctx context.Context, orgID string, by consent.Source, id string, rows []json.RawMessage) ([]bulk.Item, error) {
	select {
	case r.begun <- struct{}{}: // another part waits
	case <-r.begun: // overtaken
		if err := core.Sleep(ctx, 20*time.Millisecond); err != nil {
			return nil, err
		}
	case <-time.After(20 * time.Millisecond):
	}
	return r.Bulk.Import(ctx, orgID, by, id, rows)
}

// TestPartsAtOnceHaveTheResultInOrder imports a file whose rows repeat few addresses, with parts
// of six rows of which two are stored at once. The first row of an address creates the contact,
// and its last row has the last word.
func TestPartsAtOnceHaveTheResultInOrder(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := contactstest.New(t, db)
		direct := w.Bulk.Config
		direct.Queue, direct.Log = nil, slog.New(slog.DiscardHandler)
		random := rand.New(rand.NewPCG(1, 2))
		file := strings.Builder{}
		file.WriteString("email,age,external_id,notes\n")
		filling := strings.Repeat("x", 700<<10) // of a part of 4 MB
		first, last := map[int]int{}, map[int]int{}
		for line := 2; line < 38; line++ {
			person, externalID := random.IntN(20), ""
			if random.IntN(15) == 0 {
				externalID = fmt.Sprintf("crm-%d", person)
			}
			fmt.Fprintf(&file, "Person%d@example.com,%d,%s,%s\n", person, line, externalID, filling)
			if last[person] = line; first[person] == 0 {
				first[person] = line
			}
		}
		rows, err := contactfile.Open(strings.NewReader(file.String()), contactfile.Config{Attributes: []string{"age"}, IgnoreUnknown: true})
		if err != nil {
			t.Fatal(err)
		}
		next := 2
		sum, err := contactimport.Run(t.Context(), contactimport.Config{
			People: &reluctant{Bulk: bulk.New(direct), begun: make(chan struct{})}, OrgID: w.Org.ID, By: consent.ByCommand, AtOnce: 2,
			Each: func(row contactfile.Row, outcome contactupload.Outcome) {
				var person int
				if _, err := fmt.Sscanf(row.Cells[0], "Person%d@", &person); err != nil || row.Line != next {
					t.Errorf("line %d after %d: %v", row.Line, next-1, err)
				}
				next++
				if created := outcome.Status == string(bulk.ItemCreated); created != (row.Line == first[person]) || outcome.Reason != "" {
					t.Errorf("line %d: %+v; the first of the address is %d", row.Line, outcome, first[person])
				}
			},
		}, rows)
		if err != nil || sum.Created != len(first) || sum.Rows != 36 {
			t.Errorf("%+v, %v; want %d contacts", sum, err, len(first))
		}
		for person, line := range last {
			got := w.Want(t, "contacts_lookup", fmt.Sprintf(`{"email":"person%d@example.com"}`, person))
			if age := got["attributes"].(map[string]any)["age"]; fmt.Sprint(age) != fmt.Sprint(line) {
				t.Errorf("person %d has the row %v, want %d", person, age, line)
			}
		}
	})
}
