package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/storage"
)

// receivedAt is when the message of receiveMail was received.
const receivedAt = "2026-03-01T12:30:00Z"

// receiveMail stores a receiving domain of the organization with a webhook, and a message to
// it whose delivery failed. It returns the id of the message. Nothing listens at the webhook.
func (s shell) receiveMail(orgID, domain string) string {
	s.t.Helper()
	db, err := storage.Open(s.t.Context(), s.database)
	if err != nil {
		s.t.Fatal(err)
	}
	at, err := time.Parse(time.RFC3339, receivedAt)
	if err != nil {
		s.t.Fatal(err)
	}
	d := receiving.Domain{ID: core.NewID(), Domain: domain, Status: receiving.Verified, Records: []receiving.Record{}, CreatedAt: at}
	err = db.ReceivingDomains().InsertDomain(s.t.Context(), orgID, d)
	d.Webhook = &receiving.Webhook{URL: "https://127.0.0.1:1/mail", AllowPatterns: []string{}, Status: receiving.Pending}
	d.Secret, d.SecretNumber = []byte("secret"), 1
	err = errors.Join(err, db.ReceivingDomains().UpdateDomain(s.t.Context(), orgID, d))
	m := inbound.Message{ID: core.NewID(), ReceivedAt: at}
	entry := receiving.LogEntry{
		Message: receiving.Message{
			ID: core.NewID(), MessageID: m.ID, DomainID: d.ID, Domain: domain, Recipients: []string{"help@" + domain},
			Outcome: receiving.DeliveryFailed, ReceivedAt: at, UpdatedAt: at,
		},
		States:  []receiving.State{{State: receiving.DeliveryFailed, OccurredAt: at}},
		Content: &m, ExpiresAt: time.Now().Add(time.Hour), Wanted: &receiving.Wanted{Recipients: []string{"help@" + domain}},
	}
	_, addErr := db.ReceivedDeliveries().Add(s.t.Context(), orgID, entry)
	if err := errors.Join(err, addErr, db.Close()); err != nil {
		s.t.Fatal(err)
	}
	return entry.Message.ID
}

// TestAdminReceived sends received messages again without a server. Each command names what is
// wrong with its arguments, and finds nothing of other organizations.
func TestAdminReceived(t *testing.T) {
	t.Parallel()
	s := migrated(t)
	org, _ := s.does("org", "create", "acme")["id"].(string)
	s.mustRun("org", "create", "other")
	const domain = "in.example.com"
	message := s.receiveMail(org, domain)

	window := func(slug, from, to string) []string {
		return []string{"received", "replay", slug, domain, "--from", from, "--to", to}
	}
	s.refuses("No such message", "received", "resend", "other", message)
	s.refuses("mailhelm: No such message in this organization.\n", "received", "resend", "acme", core.NewID())
	s.refuses("No such receiving domain", window("other", receivedAt, "2026-03-01T13:00:00Z")...)
	s.refuses(`--from "noon"`, window("acme", "noon", receivedAt)...)
	s.refuses(`--to "noon"`, window("acme", receivedAt, "noon")...)
	s.refuses("mailhelm: --from is not before to.\n", window("acme", receivedAt, receivedAt)...)

	if got := s.mustRun("received", "resend", "acme", message); !strings.Contains(got, message) {
		t.Errorf("resend prints %s", got)
	}
	for to, want := range map[string]float64{"2026-03-01T12:30:01Z": 1, "2026-03-01T12:30:00Z": 0} {
		if got := s.does(window("acme", "2026-03-01T12:00:00Z", to)...); got["resent"] != want {
			t.Errorf("replay to %s: %v, want %v", to, got, want)
		}
	}
	if got := s.does("received", "replay", "acme", domain, "--from", receivedAt); got["resent"] != 1.0 {
		t.Errorf("replay until now: %v", got)
	}
	log := s.mustRun("audit", "list", "acme", "--json")
	if strings.Count(log, "inbound_message.resent") != 1 || !strings.Contains(log, "inbound_messages.resent") {
		t.Errorf("the log has\n%s", log)
	}
}
