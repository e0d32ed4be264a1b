package storage_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/storage"
)

// counted is a report filter whose window contains every time that the tests use.
var counted = reports.Filter{Window: core.Window{From: start.AddDate(-1, 0, 0), To: start.AddDate(1, 0, 0)}}

// ownReports gives the organization a bounce and an open event, and the daily and hourly
// counts of the bounce. It also stores a mark, the key of a unique open or click. A stored
// mark prevents counting a repeated open or click as unique.
func (o *ownedObjects) ownReports(t *testing.T, db *storage.DB) {
	t.Helper()
	at := start.Truncate(24 * time.Hour)
	e := messages.Event{
		ID: "bounce", MessageID: "message", Type: messages.Bounce, OccurredAt: at, Recipient: "gone@x.example",
		Bounced: &messages.BounceKind{Type: messages.PermanentBounce}, Mail: messages.Mail{From: "me@y.example", SentAt: at},
	}
	opened := e
	opened.ID, opened.Type, opened.Bounced = "open", messages.Open, nil
	_, err := db.Messages().RecordEvents(t.Context(), o.org, []messages.Event{e, opened}, start)
	must(t, err)
	counted := []reports.Counted{{Subject: reports.Subject{From: at}, Counts: reports.Counts{Bounced: 1}}}
	must(t, db.Reports().CountDays(t.Context(), o.org, counted))
	must(t, db.Reports().CountHours(t.Context(), o.org, counted))
	must(t, db.Reports().CountBounces(t.Context(), o.org, []reports.DomainBounces{{Day: at, Domain: "x.example", Bounced: 1}}))
	_, err = db.Reports().Mark(t.Context(), o.org, []string{"mark"})
	must(t, err)
}

// reportsState returns the owner's report counts, read with the methods of the report
// store.
func (o ownedObjects) reportsState(t *testing.T, db *storage.DB) []any {
	t.Helper()
	var seen []any
	for _, method := range []string{"DayCounts", "GroupCounts", "HourCounts", "FromEvents", "AnyMessage", "FailingDomains", "RecentBounces", "Mark"} {
		found, err := reportCalls(o.org)[method](t, db)
		must(t, err)
		seen = append(seen, found)
	}
	return seen
}

func reportCalls(org string) map[string]storeCall {
	return map[string]storeCall{
		"DayCounts": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Reports().DayCounts(t.Context(), org, counted)
		},
		"GroupCounts": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Reports().GroupCounts(t.Context(), org, counted)
		},
		"FromEvents": func(t *testing.T, db *storage.DB) (any, error) {
			rows, err := db.Reports().FromEvents(t.Context(), org, counted)
			slices.SortFunc(rows, func(a, b reports.GroupCounts) int { return cmp.Compare(a.Channel, b.Channel) }) // FromEvents returns rows in no fixed order
			return rows, err
		},
		"AnyMessage": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Reports().AnyMessage(t.Context(), org, counted.Window)
		},
		"HourCounts": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Reports().HourCounts(t.Context(), org, counted)
		},
		"FailingDomains": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Reports().FailingDomains(t.Context(), org, counted.Window, 10)
		},
		"RecentBounces": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Reports().RecentBounces(t.Context(), org, counted.Window, 10)
		},
		"Purge reports": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Reports().Purge(t.Context(), org, counted.To, 10)
		},
		"Mark": func(t *testing.T, db *storage.DB) (any, error) {
			fresh, err := db.Reports().Mark(t.Context(), org, []string{"mark"})
			// The other organization has stored the same mark, the key of a unique open or
			// click. For this organization the mark must still be new.
			return len(fresh) == 0, err
		},
	}
}
