package server

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/senders"
)

// Ids of the verified senders that calls confirm and delete.
const (
	readSender   = "01900000-0000-7000-8000-000000000007"
	deleteSender = "01900000-0000-7000-8000-000000000008"
)

// renewSenders creates the verified senders that the calls of a test round confirm and delete,
// instead of those of the previous round. It also forgets the codes that the previous round
// requested, of which a person may request five in an hour.
func (s *faultScene) renewSenders(t *testing.T) {
	t.Helper()
	for _, statement := range []string{"DELETE FROM verified_senders", "DELETE FROM verified_sender_starts"} {
		if _, err := s.p.SQL(t).ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	name, _ := access.ParseAPIKey(s.p.Live.APIKey)
	keys, err := s.p.DB.Keys().APIKeys(t.Context(), name.Environment, name.Prefix)
	if err != nil || len(keys) != 1 {
		t.Fatalf("API keys: %v, %v", keys, err)
	}
	now := s.p.Clock.Now()
	for _, id := range []string{readSender, deleteSender} {
		c := senders.Claim{ID: id, Owner: keys[0].ID, Email: id + "@example.com", CodeExpiresAt: now, VerifiedAt: &now, CreatedAt: now}
		if stored, err := s.p.DB.VerifiedSenders().InsertClaim(t.Context(), s.p.OrgID, c); err != nil || !stored {
			t.Fatalf("no verified sender: %v", err)
		}
	}
}
