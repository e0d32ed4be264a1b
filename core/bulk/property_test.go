package bulk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// randomRow returns a random row about one of five people, so that rows often name the same
// contact.
func randomRow(r *rand.Rand) map[string]any {
	row := map[string]any{}
	email := fmt.Sprintf("p%d@x.example", r.IntN(5))
	if r.IntN(4) == 0 {
		email = "P" + email[1:]
	}
	if r.IntN(4) > 0 {
		row["external_id"] = fmt.Sprint(r.IntN(5))
		if r.IntN(3) == 0 {
			row["rebind_external_id"] = true
		}
	}
	if row["external_id"] == nil || r.IntN(3) > 0 {
		row["email"] = email
	}
	if r.IntN(2) == 0 {
		row["attributes"] = map[string]any{"age": r.IntN(9), "city": []any{"Rome", nil}[r.IntN(2)]}
	}
	if r.IntN(2) == 0 {
		choices := map[string]any{}
		for _, topic := range []string{"news", "offers"}[:1+r.IntN(2)] {
			choices[topic] = []string{"OPT_IN", "OPT_OUT"}[r.IntN(2)]
		}
		row["topic_preferences"] = choices
	}
	if r.IntN(3) == 0 {
		row["unsubscribe_all"] = []any{true, false, nil}[r.IntN(3)]
	}
	if r.IntN(3) == 0 {
		row["lists"] = [][]string{{}, {"beta"}, {"beta", "customers"}}[r.IntN(3)]
	}
	return row
}

// singleRow returns the operation for a single contact that corresponds to the row, and the
// row as its arguments. contacts_upsert has no lists and rebind_external_id, so singleRow
// removes these members from the row.
func singleRow(row map[string]any) (string, map[string]any) {
	if row["external_id"] != nil {
		return "contacts_upsert_by_external_id", row
	}
	delete(row, "lists")
	delete(row, "rebind_external_id")
	return "contacts_upsert", row
}

// TestBulkAndSingleWritesAgree checks with random rows that a bulk write has the same
// effect as single writes in the same order. It compares the stored contacts, the contacts
// at the sending account and the refusals.
func TestBulkAndSingleWritesAgree(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		for seed := range uint64(12) {
			r := rand.New(rand.NewPCG(seed, 7))
			many, one := setupOn(t, db), setupOn(t, db)
			for _, b := range []bundle{many, one} {
				b.SyncNow(t)
			}
			var history []string
			for round := range 4 {
				var rows, refusals []string
				for range 1 + r.IntN(12) {
					operation, row := singleRow(randomRow(r))
					raw, err := json.Marshal(row)
					if err != nil {
						t.Fatal(err)
					}
					rows = append(rows, string(raw))
					_, refused := one.Run(t.Context(), operation, string(raw))
					word := ""
					if refused != nil {
						word = string(refused.Code)
					}
					refusals = append(refusals, word)
				}
				history = append(history, rows...)
				for i, item := range many.WriteRows(t, rows...) {
					if reason, _ := item["reason"].(string); reason != refusals[i] {
						t.Fatalf("seed %d round %d row %s: bulk %v, single %q\n%v", seed, round, rows[i], item, refusals[i], history)
					}
				}
				if diff := cmp.Diff(one.storedState(t), many.storedState(t)); diff != "" {
					t.Fatalf("seed %d round %d: single -, bulk +\n%s\n%v", seed, round, diff, history)
				}
				if r.IntN(2) == 0 {
					archived := fmt.Sprintf(`{"email":"p%d@x.example"}`, r.IntN(5))
					many.Want(t, "contacts_archive", archived)
					one.Want(t, "contacts_archive", archived)
					history = append(history, "archive "+archived)
				}
				many.Advance(time.Minute)
				one.Advance(time.Minute)
			}
		}
	})
}

// storedState returns the stored contacts of the five people of randomRow, and their consent
// at the sending account.
func (b bundle) storedState(t *testing.T) map[string]any {
	t.Helper()
	all := map[string]any{}
	for i := range 5 {
		email := fmt.Sprintf("p%d@x.example", i)
		if c, err := b.DB.Contacts().ContactByEmail(t.Context(), b.Org.ID, email); err == nil {
			lists := []string{}
			for _, l := range c.Lists {
				lists = append(lists, l.Key)
			}
			id := ""
			if c.ExternalID != nil {
				id = *c.ExternalID
			}
			all[email] = []any{c.Email, id, c.Status, c.Attributes, c.TopicPreferences, c.UnsubscribeAll, lists}
		}
		if at, there := b.AccountContact(t, email); there {
			all["account "+email] = []any{at.UnsubscribeAll, at.Preferences}
		}
	}
	return all
}

// TestTwoWorkersAtOnce checks that several workers on one database process each row of a
// bulk write once, in order.
func TestTwoWorkersAtOnce(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		var ids []string
		for job := range 4 {
			var rows []string
			for i := range 1500 {
				// All bulk writes name the same people, so that they also compete for contacts.
				rows = append(rows, fmt.Sprintf(`{"email":"p%d@x.example","external_id":"%d","attributes":{"age":%d}}`, (i*7+job)%1500, (i*7+job)%1500, job))
			}
			ids = append(ids, b.AcceptRows(t, rows...))
		}
		ended := make(chan error)
		workers := 0
		for _, id := range append(slices.Clone(ids), ids...) {
			other := bulk.New(b.Bulk.Config)
			workers++
			go func() {
				ended <- other.BulkWorker().Work(context.WithoutCancel(t.Context()), bulk.Args{OrgID: b.Org.ID, JobID: id})
			}()
		}
		for range workers {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		status := map[string]int{}
		contacts := map[string]bool{}
		for _, id := range ids {
			for _, item := range b.Outcomes(t, id) {
				status[item["status"].(string)]++
				contacts[item["contact_id"].(string)] = true
			}
		}
		if want := map[string]int{"created": 1500, "updated": 4500}; !maps.Equal(status, want) || len(contacts) != 1500 {
			t.Errorf("%v of %d contacts, want %v", status, len(contacts), want)
		}
	})
}
