package storage_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/testsends"
	"github.com/mailhelm/mailhelm/storage"
)

// capped is the application whose daily cap and number of recipients the owner has.
const capped = "same"

// ownBroadcast gives the organization a broadcast to its list that is sending, with a
// recipient that is claimed and one that was filtered. It also stores a test send, a stop of
// all mail, and a daily cap with recipients of the day.
func (o *ownedObjects) ownBroadcast(t *testing.T, db *storage.DB) {
	t.Helper()
	ctx, size, most := t.Context(), 1, 5
	o.sent = broadcasts.Broadcast{
		ID: core.NewID(), Name: "Same", HTML: "<p>Same</p>", Subject: "Same", Topic: "news",
		Target: broadcasts.Target{AudienceKind: broadcasts.List, AudienceID: o.list.ID}, State: broadcasts.Sending,
		AudienceSize: &size, StartedAt: &start, PacedAt: start, CreatedAt: start, UpdatedAt: start, Revision: 1,
	}
	must(t, db.Broadcasts().Insert(ctx, o.org, o.sent))
	frozen, err := db.Audiences().Freeze(ctx, o.org, o.sent, start)
	must(t, err)
	if frozen != 1 {
		t.Fatalf("%d members were copied", frozen)
	}
	store := db.Handover()
	must(t, store.Claim(ctx, o.org, o.sent.ID, []handover.Recipient{{Key: o.contact.ID, CreatedAt: o.sent.CreatedAt}}, "process", start))
	must(t, store.Add(ctx, o.org, o.sent.ID, []handover.Recipient{{Key: "out", Email: "out@x"}, {Key: "waits", Email: "waits@x"}}, start))
	must(t, store.Filter(ctx, o.org, o.sent.ID, []handover.Recipient{{Key: "out", CreatedAt: start, Tier: handover.ByAccount}}, start))
	must(t, store.Pause(ctx, o.org, later(1)))
	_, err = db.TestSends().Begin(ctx, o.org, testsends.TestSend{ID: core.NewID(), Kind: "broadcast", SubjectID: o.sent.ID, At: start}, start.Add(-time.Hour), 1)
	must(t, err)
	limits := db.HandoverLimits()
	must(t, limits.SetStop(ctx, o.org, &handover.Stop{At: start, By: "user"}))
	must(t, limits.SetCap(ctx, o.org, capped, &most))
	must(t, limits.Use(ctx, o.org, capped, 10, 3))
}

// broadcastState returns the organization's broadcast with its audience and recipients, and
// its limits.
func (o ownedObjects) broadcastState(t *testing.T, db *storage.DB) []any {
	t.Helper()
	var seen []any
	see := func(value any, err error) {
		t.Helper()
		must(t, err)
		seen = append(seen, value)
	}
	for _, key := range []string{"out", "waits"} {
		r, err := db.Handover().Recipient(t.Context(), o.org, o.sent.ID, key)
		see(r, err)
	}
	for _, method := range []string{"Broadcast", "Recipient", "FreeAt", "Limit", "Stopped", "Begin"} {
		found, err := storeCalls(o, o.org)[method](t, db)
		see(found, err)
	}
	return seen
}

// broadcastCalls returns calls about broadcasts and audiences. The organization org makes
// them with the objects of another organization, o.
func broadcastCalls(o ownedObjects, org string) map[string]storeCall {
	stolen := o.sent
	stolen.Name = "stolen"
	return map[string]storeCall{
		"broadcasts.Store.Update": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Broadcasts().Update(t.Context(), org, stolen)
		},
		"Broadcasts": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Broadcasts().Broadcasts(t.Context(), org, broadcasts.Filter{Limit: 10})
		},
		"SetPause": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Broadcasts().SetPause(t.Context(), org, o.sent.ID, &broadcasts.Pause{Reason: broadcasts.PausedByPerson, Since: start})
		},
		"Freeze": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Audiences().Freeze(t.Context(), org, stolen, later(1))
		},
		"Freeze of a segment": func(t *testing.T, db *storage.DB) (any, error) {
			stolen := stolen
			stolen.Target = broadcasts.Target{AudienceKind: broadcasts.Segment, AudienceID: o.segment.ID}
			return db.Audiences().Freeze(t.Context(), org, stolen, later(1))
		},
		"Reach": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Audiences().Reach(t.Context(), org, o.sent.Target, "news")
		},
		"WithAttribute": func(t *testing.T, db *storage.DB) (any, error) {
			counts, err := db.Audiences().WithAttribute(t.Context(), org, o.sent.Target, []string{"plan"})
			return counts["plan"], err
		},
		"Samples": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Audiences().Samples(t.Context(), org, o.sent.Target, "news", 10)
		},
		"broadcasts.Store.Delete": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Broadcasts().Delete(t.Context(), org, o.sent.ID)
		},
		"Broadcast": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Broadcasts().Broadcast(t.Context(), org, o.sent.ID)
		},
		"CountByState": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Broadcasts().CountByState(t.Context(), org)
		},
		"LockProgress": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Broadcasts().LockProgress(t.Context(), org, o.sent.ID)
		},
		"FailedSince": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Broadcasts().FailedSince(t.Context(), org, start.Add(-time.Hour))
		},
		"SetCounts": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Broadcasts().SetCounts(t.Context(), org, o.sent.ID, 7, 7, 7)
		},
		"SetPace": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Broadcasts().SetPace(t.Context(), org, o.sent.ID, later(9))
		},
		"broadcasts.AudienceStore.Members": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Audiences().Members(t.Context(), org, "news", []string{o.contact.ID})
		},
		"MemberByEmail": func(t *testing.T, db *storage.DB) (any, error) {
			_, found, err := db.Audiences().MemberByEmail(t.Context(), org, o.contact.Email)
			return found, err
		},
		// The limit is one test send an hour. The owner has made one; another organization must
		// not be limited by it.
		"Begin": func(t *testing.T, db *storage.DB) (any, error) {
			attempt := testsends.TestSend{ID: core.NewID(), Kind: "broadcast", SubjectID: o.sent.ID, At: start}
			return db.TestSends().Begin(t.Context(), org, attempt, start.Add(-time.Hour), 1)
		},
	}
}

// recipientCalls returns calls about recipients of sends. The organization org makes them
// with the objects of another organization, o.
func recipientCalls(o ownedObjects, org string) map[string]storeCall {
	return map[string]storeCall{
		// The call adds recipients of its own organization to a send with the owner's id.
		"Add": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Handover().Add(t.Context(), org, o.sent.ID, []handover.Recipient{{Key: o.contact.ID, Email: "stolen@x"}}, later(1))
		},
		"Filter": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Handover().Filter(t.Context(), org, o.sent.ID, []handover.Recipient{{Key: "waits", CreatedAt: start, Tier: handover.ByAccount}}, later(1))
		},
		"Answer": func(t *testing.T, db *storage.DB) (any, error) {
			answer := handover.Answer{Key: o.contact.ID, CreatedAt: o.sent.CreatedAt, Attempt: 1, Verdict: handover.Accepted, MessageID: "stolen"}
			return nil, db.Handover().Answer(t.Context(), org, o.sent.ID, []handover.Answer{answer}, later(1))
		},
		"Observe": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Handover().Observe(t.Context(), org, []handover.Evidence{{SendID: o.sent.ID, Key: o.contact.ID, MessageID: "stolen"}}, later(1))
		},
		// Another organization's account is free at once: it must not wait for the owner's.
		"handover.Store.Reserve": func(t *testing.T, db *storage.DB) (any, error) {
			at, err := db.Handover().Reserve(t.Context(), org, 1, time.Second, start)
			return !at.Equal(start), err
		},
		"Pending": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Handover().Pending(t.Context(), org, o.sent.ID, later(9), 10)
		},
		"Claim": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Handover().Claim(t.Context(), org, o.sent.ID, []handover.Recipient{{Key: "waits", CreatedAt: start}}, "thief", later(1))
		},
		"GiveUp": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Handover().GiveUp(t.Context(), org, later(1_000_000), 10)
		},
		"Recipient": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Handover().Recipient(t.Context(), org, o.sent.ID, o.contact.ID)
		},
		"FreeAt": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Handover().FreeAt(t.Context(), org)
		},
		"handover.Store.Pause": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Handover().Pause(t.Context(), org, later(9))
		},
		"handover.OutcomeStore.Counts": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Outcomes().Counts(t.Context(), org, o.sent.ID)
		},
		"Unresolved": func(t *testing.T, db *storage.DB) (any, error) {
			claimed, pending, err := db.Outcomes().Unresolved(t.Context(), org, o.sent.ID)
			return !claimed.IsZero() || !pending.IsZero(), err
		},
		"Outcomes": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Outcomes().Outcomes(t.Context(), org, o.sent.ID, handover.OutcomeFilter{Limit: 10})
		},
	}
}

// limitCalls returns calls about the daily limits of applications and about the stop of all
// mail. The organization org makes them about the application of another organization.
func limitCalls(org string) map[string]storeCall {
	return map[string]storeCall{
		"Limit": func(t *testing.T, db *storage.DB) (any, error) {
			return db.HandoverLimits().Limit(t.Context(), org, capped, 10)
		},
		"Use": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.HandoverLimits().Use(t.Context(), org, capped, 10, 7)
		},
		"Used": func(t *testing.T, db *storage.DB) (any, error) {
			return db.HandoverLimits().Used(t.Context(), org, capped, 10)
		},
		"GiveBack": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.HandoverLimits().GiveBack(t.Context(), org, capped, 10, 2)
		},
		"Stopped": func(t *testing.T, db *storage.DB) (any, error) {
			return db.HandoverLimits().Stopped(t.Context(), org)
		},
		"Caps": func(t *testing.T, db *storage.DB) (any, error) {
			return db.HandoverLimits().Caps(t.Context(), org)
		},
		"SetStop": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.HandoverLimits().SetStop(t.Context(), org, nil)
		},
		"handover.LimitStore.SetCap": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.HandoverLimits().SetCap(t.Context(), org, capped, nil)
		},
	}
}
