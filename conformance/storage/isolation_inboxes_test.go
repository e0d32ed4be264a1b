package storage_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/storage"
)

// ownInbox gives the organization a temporary inbox with a message.
func (o *ownedObjects) ownInbox(t *testing.T, db *storage.DB) {
	t.Helper()
	id := core.NewID()
	o.inbox = inboxes.Inbox{
		ID: id, OrgID: o.org, LocalPart: o.org, Owner: "same", Caller: "same", AccountRef: "same", Visibility: inboxes.Shared, CreatedAt: start, ExpiresAt: later(600),
		First: inboxes.Token{ID: core.NewID(), InboxID: id, Hash: []byte(o.org), Prefix: "same", Label: "same", CreatedAt: start},
	}
	_, err := db.Inboxes().InsertInbox(t.Context(), o.inbox)
	must(t, err)
	_, err = db.Inboxes().AddReceived(t.Context(), []inboxes.Arrival{{Target: o.inboxTarget(o.org), Stored: inboxes.Stored{Seq: 1, Message: inbound.Message{ID: "same"}}}})
	must(t, err)
	_, err = db.Inboxes().SetDisabled(t.Context(), o.org, true)
	must(t, err)
}

// inboxTarget names the inbox as one of an organization.
func (o ownedObjects) inboxTarget(org string) inboxes.Target {
	return inboxes.Target{OrgID: org, InboxID: o.inbox.ID}
}

// inboxState returns the organization's inbox, its message and its pull links.
func (o ownedObjects) inboxState(t *testing.T, db *storage.DB) []any {
	t.Helper()
	var seen []any
	for _, method := range []string{"Inbox", "Received", "PullTokens", "HoldMints"} {
		found, err := storeCalls(o, o.org)[method](t, db)
		must(t, err)
		seen = append(seen, found)
	}
	return seen
}

// inboxCalls returns calls about temporary inboxes. The organization org makes them with the
// objects of another organization, o.
func inboxCalls(o ownedObjects, org string) map[string]storeCall {
	id := o.inbox.ID
	return map[string]storeCall{
		"Inbox": func(t *testing.T, db *storage.DB) (any, error) { return db.Inboxes().Inbox(t.Context(), org, id) },
		"Inboxes": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Inboxes().Inboxes(t.Context(), org, inboxes.Filter{Owner: "same", Shared: true, Now: start, Limit: 10})
		},
		"SetLabel": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Inboxes().SetLabel(t.Context(), org, id, "stolen", inboxes.Private)
		},
		"DeleteInbox": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Inboxes().DeleteInbox(t.Context(), org, id, start)
		},
		"Reached": func(t *testing.T, db *storage.DB) (any, error) {
			limits := []inboxes.Limit{{N: 1, Window: time.Hour}, {N: 1, Live: inboxes.LiveFilter{Caller: "same"}}}
			reached, err := db.Inboxes().Reached(t.Context(), org, limits, start)
			return slices.DeleteFunc(reached, func(at *time.Time) bool { return at == nil }), err
		},
		"CountReceived": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Inboxes().CountReceived(t.Context(), []inboxes.Count{{Target: o.inboxTarget(org), Accepted: 1, Dropped: 1}})
		},
		"HoldInboxes": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Inboxes().HoldInboxes(t.Context(), []inboxes.Target{o.inboxTarget(org)})
		},
		"KnownReceived": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Inboxes().KnownReceived(t.Context(), []inboxes.Reference{{Target: o.inboxTarget(org), MessageID: "same"}})
		},
		"HoldMints": func(t *testing.T, db *storage.DB) (any, error) {
			var disabled bool
			err := db.InTx(t.Context(), func(ctx context.Context) error {
				var err error
				disabled, err = db.Inboxes().HoldMints(ctx, org)
				return err
			})
			return disabled, err
		},
		"Received": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Inboxes().Received(t.Context(), org, id, 0, 10, 1000)
		},
		"RemoveReceived": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Inboxes().RemoveReceived(t.Context(), org, id, 9)
		},
		"PullTokens": func(t *testing.T, db *storage.DB) (any, error) { return db.Inboxes().PullTokens(t.Context(), org, id) },
		"RevokeToken": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Inboxes().RevokeToken(t.Context(), org, id, o.inbox.First.ID, start)
		},
	}
}
