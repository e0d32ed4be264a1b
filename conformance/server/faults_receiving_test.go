package server

import (
	"errors"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/receiving"
)

// receivedEntry is the id of the message in the log of received mail that calls read.
const receivedEntry = "01900000-0000-7000-8000-000000000008"

// callsOfReceiving are the entries of [listed] about receiving domains.
var callsOfReceiving = []call{
	{"inbound_messages_get", "GET", "/v1/inbound/messages/" + receivedEntry, "", untouched},
	{"inbound_domains_create", "POST", "/v1/inbound/domains", `{"domain":"created-ROUND.example.com"}`, untouched},
	{"inbound_domains_get", "GET", "/v1/inbound/domains/read-ROUND.example.com", "", untouched},
	{"inbound_domains_delete", "DELETE", "/v1/inbound/domains/delete-ROUND.example.com", "", untouched},
	{"inbound_domains_verify", "POST", "/v1/inbound/domains/read-ROUND.example.com/verify", "", untouched},
	{"inbound_webhook_replace", "PUT", "/v1/inbound/domains/put-ROUND.example.com/webhook", `{"webhook_url":"https://localhost/mail"}`, untouched},
	{"inbound_webhook_delete", "DELETE", "/v1/inbound/domains/read-ROUND.example.com/webhook", "", untouched},
	{"inbound_webhook_rotate_secret", "POST", "/v1/inbound/domains/rotate-ROUND.example.com/webhook/rotate-secret", "", untouched},
	{"inbound_addresses_list", "GET", "/v1/inbound/domains/read-ROUND.example.com/addresses", "", untouched},
	{"inbound_addresses_create", "POST", "/v1/inbound/domains/read-ROUND.example.com/addresses", `{"metadata":{"order":1}}`, untouched},
	{"inbound_addresses_delete", "DELETE", "/v1/inbound/domains/read-ROUND.example.com/addresses/none", "", untouched},
}

// insertReceived stores a message in the log of received mail.
func (s *faultScene) insertReceived(t *testing.T) {
	t.Helper()
	now := s.p.Clock.Now()
	entry := receiving.LogEntry{
		Message: receiving.Message{
			ID: receivedEntry, MessageID: "received", DomainID: core.NewID(), Domain: "in.example.com", Recipients: []string{"x@in.example.com"},
			Verdicts: inbound.Verdicts{SPF: inbound.Pass, DKIM: inbound.Pass, DMARC: inbound.Pass, Spam: inbound.Disabled, Virus: inbound.Disabled},
			Outcome:  receiving.NoRoute, ReceivedAt: now, UpdatedAt: now,
		},
		States: []receiving.State{{State: receiving.NoRoute, OccurredAt: now}},
	}
	if _, err := s.p.DB.ReceivedDeliveries().Add(t.Context(), s.p.OrgID, entry); err != nil {
		t.Fatal(err)
	}
}

// makeReceiving creates the receiving domains that the calls of the test round s.round read,
// change and delete.
func (s *faultScene) makeReceiving(t *testing.T) {
	t.Helper()
	now, store := s.p.Clock.Now(), s.p.DB.ReceivingDomains()
	all, err := store.Domains(t.Context(), s.p.OrgID)
	for _, d := range all {
		err = errors.Join(err, store.DeleteDomain(t.Context(), s.p.OrgID, d.ID, now))
	}
	for _, name := range []string{"read", "put", "delete", "rotate"} {
		d := receiving.Domain{ID: core.NewID(), Domain: name + "-" + s.round + ".example.com", Status: receiving.Verified, Records: []receiving.Record{}, CreatedAt: now}
		err = errors.Join(err, store.InsertDomain(t.Context(), s.p.OrgID, d))
		if name == "rotate" {
			d.Webhook = &receiving.Webhook{URL: "https://localhost/mail", Status: receiving.Pending}
			err = errors.Join(err, store.UpdateDomain(t.Context(), s.p.OrgID, d))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}
