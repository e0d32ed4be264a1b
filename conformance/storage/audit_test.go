package storage_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// eventIDs returns the ids of events, in the order of events.
func eventIDs(events []access.AuditEvent) []string {
	found := []string{}
	for _, e := range events {
		found = append(found, e.ID)
	}
	return found
}

func TestFindAudit(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, org := t.Context(), newOrg(t, db)
		// The events are inserted in pairs with equal times: a0 and b0 at 0 s, a1 and b1 at 1
		// s, and so on.
		for i := range 4 {
			for _, name := range []string{"a", "b"} {
				must(t, db.Audit().AppendAudit(ctx, access.AuditEvent{
					ID: fmt.Sprint(name, i), OrgID: org, OccurredAt: later(i), Action: "made." + name, ActorKind: "user",
					ActorID: fmt.Sprint("actor", i%2), SubjectID: fmt.Sprint("subject", i/2), Detail: "{}",
				}))
			}
		}
		cursor := access.AuditCursor{ID: "b1", OccurredAt: later(1)}
		for name, c := range map[string]struct {
			filter access.AuditFilter
			want   []string
		}{
			"all":                {access.AuditFilter{Limit: 9}, []string{"b3", "a3", "b2", "a2", "b1", "a1", "b0", "a0"}},
			"limit":              {access.AuditFilter{Limit: 3}, []string{"b3", "a3", "b2"}},
			"action":             {access.AuditFilter{Action: "made.a", Limit: 9}, []string{"a3", "a2", "a1", "a0"}},
			"unknown action":     {access.AuditFilter{Action: "made", Limit: 9}, []string{}},
			"actor":              {access.AuditFilter{ActorID: "actor1", Limit: 9}, []string{"b3", "a3", "b1", "a1"}},
			"actor and action":   {access.AuditFilter{ActorID: "actor1", Action: "made.b", Limit: 9}, []string{"b3", "b1"}},
			"subject":            {access.AuditFilter{SubjectID: "subject0", Limit: 9}, []string{"b1", "a1", "b0", "a0"}},
			"from":               {access.AuditFilter{From: later(3), Limit: 9}, []string{"b3", "a3"}},
			"to":                 {access.AuditFilter{To: later(1), Limit: 9}, []string{"b0", "a0"}},
			"before":             {access.AuditFilter{Before: &cursor, Limit: 9}, []string{"a1", "b0", "a0"}},
			"before and action":  {access.AuditFilter{Before: &cursor, Action: "made.b", Limit: 9}, []string{"b0"}},
			"before, earlier to": {access.AuditFilter{Before: &cursor, To: later(1), Limit: 9}, []string{"b0", "a0"}},
			"before, later to":   {access.AuditFilter{Before: &cursor, To: later(3), From: later(1), Limit: 9}, []string{"a1"}},
		} {
			got, err := db.Audit().FindAudit(ctx, org, c.filter)
			must(t, err)
			if !slices.Equal(eventIDs(got), c.want) {
				t.Errorf("%s: %v, want %v", name, eventIDs(got), c.want)
			}
		}
	})
}
