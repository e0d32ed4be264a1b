package server

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/inboxes"
)

// insertInboxes creates the inboxes that calls read and delete. They live longer than the test.
func (s *faultScene) insertInboxes(t *testing.T) {
	t.Helper()
	for _, id := range []string{readInbox, deleteInbox} {
		i := inboxes.Inbox{
			ID: id, OrgID: s.p.OrgID, LocalPart: "faults" + id, Visibility: inboxes.Shared, CreatedAt: s.p.Clock.Now(), ExpiresAt: s.p.Clock.Now().AddDate(1, 0, 0),
			First: inboxes.Token{ID: id, InboxID: id, Hash: []byte(id), Prefix: "AAAAAAAA", Label: "default", CreatedAt: s.p.Clock.Now().Add(-time.Hour)},
		}
		if stored, err := s.p.DB.Inboxes().InsertInbox(t.Context(), i); err != nil || !stored {
			t.Fatalf("no inbox: %v", err)
		}
	}
}

// forgetMints deletes the inboxes and pull links that calls of earlier rounds created, so that
// no round reaches their limits.
func (s *faultScene) forgetMints(t *testing.T) {
	t.Helper()
	for _, statement := range []string{"DELETE FROM inbox_tokens WHERE id <> inbox_id", "DELETE FROM inboxes WHERE id <> token_id"} {
		if _, err := s.p.SQL(t).ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}
