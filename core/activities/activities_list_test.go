package activities_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// names returns the names of the activities of a page, in order and separated by spaces.
func names(page activities.Page) string {
	var all []string
	for _, a := range page.Items {
		all = append(all, a.Name)
	}
	return strings.Join(all, " ")
}

func TestPagesAreNewestFirstAndFiltered(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *storage.DB) {
		b := setup(t, db)
		ann := b.contact(t, "ann@x.example", "u1")
		odd := core.NewID()
		b.contact(t, "odd@x.example", odd) // this contact has an external id in the form of a contact id
		at := func(minutes int) string {
			return b.clock().Add(time.Duration(minutes) * time.Minute).Format(time.RFC3339)
		}
		for i, who := range []string{"ann", "bob", "ann", "ann", "odd"} {
			b.record(t, `{"name":"n%d","email":"%s@x.example","occurred_at":%q}`, i%3, who, at(i-10))
		}
		for arguments, want := range map[string]string{
			`{}`:                                              "n1 n0 n2 n1 n0",
			`{"name":"n1"}`:                                   "n1 n1",
			`{"name":"n"}`:                                    "",
			`{"contact":"u1"}`:                                "n0 n2 n0",
			`{"contact":"` + ann + `"}`:                       "n0 n2 n0",
			`{"contact":"ANN@x.example"}`:                     "n0 n2 n0",
			`{"contact":"` + odd + `"}`:                       "n1",
			`{"contact":"nobody"}`:                            "",
			`{"contact":"` + core.NewID() + `"}`:              "",
			`{"contact":"u1","name":"n0"}`:                    "n0 n0",
			`{"from":"` + at(-9) + `"}`:                       "n1 n0 n2 n1",
			`{"to":"` + at(-9) + `"}`:                         "n0",
			`{"from":"` + at(-9) + `","to":"` + at(-7) + `"}`: "n2 n1",
			`{"name":"n0","from":"` + at(-9) + `"}`:           "n0",
			`{"name":"n0","to":"` + at(-7) + `"}`:             "n0",
			`{"contact":"u1","from":"` + at(-8) + `","to":"` + at(-7) + `"}`: "n2",
		} {
			if got := names(b.page(t, "%s", arguments)); got != want {
				t.Errorf("%s: %q, want %q", arguments, got, want)
			}
		}
		of := func(arguments string) string {
			return names(want[activities.Page](t, b, "contacts_list_activities", "%s", arguments))
		}
		if got := of(`{"id":"`+ann+`"}`) + "|" + of(`{"id":"u1","name":"n2"}`) + "|" + of(`{"id":"ann@x.example","to":"`+at(-9)+`"}`); got != "n0 n2 n0|n2|n0" {
			t.Error(got)
		}
		for _, unknown := range []string{"nobody", core.NewID(), "nobody@x.example"} {
			b.wantRefusal(t, core.CodeNotFound, "contacts_list_activities", `{"id":"`+unknown+`"}`)
			b.wantRefusal(t, core.CodeNotFound, "contacts_summarize_activities", `{"id":"`+unknown+`"}`)
		}
	})
}

// TestPagesJoin checks that pages of any size together are the whole list, even if many
// activities have the same time.
func TestPagesJoin(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *storage.DB) {
		b := setup(t, db)
		for i := range 23 {
			b.record(t, `{"name":"a","email":"ann@x.example","occurred_at":"2026-02-0%dT00:00:00Z"},{"name":"b","email":"bob@x.example"}`, 1+i%3)
		}
		for _, filter := range []string{``, `,"name":"a"`, `,"contact":"ann@x.example"`, `,"contact":"ann@x.example","name":"a","from":"2026-02-02T00:00:00Z"`} {
			whole := b.page(t, `{"limit":200%s}`, filter).Items
			for _, limit := range []int{1, 7, len(whole)} {
				var joined []activities.Activity
				for cursor := ""; ; {
					page := b.page(t, `{"limit":%d,"cursor":%q%s}`, limit, cursor, filter)
					joined = append(joined, page.Items...)
					if cursor = page.Next; cursor == "" {
						break
					}
				}
				if diff := cmp.Diff(whole, joined); diff != "" {
					t.Errorf("%s by %d: %s", filter, limit, diff)
				}
			}
		}
	})
}

func TestCursorsFitTheirList(t *testing.T) {
	t.Parallel()
	b := setup(t, storagetest.SQLite(t))
	for range 3 {
		b.record(t, `{"name":"a","email":"ann@x.example"}`)
	}
	cursor := b.page(t, `{"limit":1}`).Next
	for _, arguments := range []string{
		`{"name":"a","cursor":%q}`, `{"contact":"ann@x.example","cursor":%q}`, `{"contact":"nobody","cursor":%q}`, `{"from":"2026-01-01T00:00:00Z","cursor":%q}`,
	} {
		b.wantRefusal(t, core.CodeValidationFailed, "activities_list", fmt.Sprintf(arguments, cursor))
	}
	b.wantRefusal(t, core.CodeValidationFailed, "activities_list", `{"cursor":"x"}`)
	b.wantRefusal(t, core.CodeValidationFailed, "activities_list", `{"from":"2026-01-01T00:00:00Z","to":"2026-01-01T00:00:00Z"}`)
	b.wantRefusal(t, core.CodeValidationFailed, "activities_list", `{"from":"2026-01-02","to":"2026-01-01"}`)
	if got := b.page(t, `{"name":"' OR 1=1 --\u202e","contact":"%% _ \\"}`); len(got.Items) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *storage.DB) {
		b := setup(t, db)
		id := b.contact(t, "ann@x.example", "")
		for _, at := range []string{"2025-12-01T00:00:00Z", "2026-01-30T12:00:00Z", "2026-01-30T11:59:59Z", "2026-02-20T00:00:00Z"} {
			b.record(t, `{"name":"seen","email":"ann@x.example","occurred_at":%q},{"name":"other","email":"bob@x.example"}`, at)
		}
		b.record(t, `{"name":"paid","email":"ann@x.example"}`)
		now := b.clock()
		got := want[core.Collection[activities.Summary]](t, b, "contacts_summarize_activities", `{"id":%q}`, id).Data
		wanted := []activities.Summary{
			{Name: "paid", CountTotal: 1, Count30d: 1, FirstAt: now, LastAt: now},
			{Name: "seen", CountTotal: 4, Count30d: 2, FirstAt: time.Date(2025, 12, 1, 0, 0, 0, 0, time.UTC), LastAt: time.Date(2026, 2, 20, 0, 0, 0, 0, time.UTC)},
		}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Error(diff)
		}
		quiet := b.contact(t, "quiet@x.example", "")
		if got := want[core.Collection[activities.Summary]](t, b, "contacts_summarize_activities", `{"id":%q}`, quiet).Data; got == nil || len(got) != 0 {
			t.Errorf("%+v", got)
		}
	})
}
