package storage_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/storage"
)

// ownedMail is a receiving domain with an address and a message whose delivery is due.
type ownedMail struct {
	domain  receiving.Domain
	address receiving.Address
	entry   receiving.LogEntry
}

// target names the receiving domain for an organization.
func (o ownedMail) target(org string) receiving.Target {
	return receiving.Target{OrgID: org, DomainID: o.domain.ID}
}

// ownReceiving gives the organization a published receiving domain with mail.
func (o *ownedObjects) ownReceiving(t *testing.T, db *storage.DB) {
	t.Helper()
	ctx, now := t.Context(), start
	d := receiving.Domain{ID: core.NewID(), Domain: o.org + ".example.com", Status: receiving.Verified, Records: []receiving.Record{}, CreatedAt: now}
	must(t, db.ReceivingDomains().InsertDomain(ctx, o.org, d))
	d.Webhook = &receiving.Webhook{URL: "https://same.example/mail", AllowPatterns: []string{}, Status: receiving.Pending}
	d.Secret, d.SecretNumber, d.Revision, d.PublishAt = []byte("secret"), 1, 1, &now
	must(t, db.ReceivingDomains().UpdateDomain(ctx, o.org, d))
	o.received.address = receiving.Address{ID: core.NewID(), LocalPart: "same", Metadata: map[string]any{"same": true}, CreatedAt: now}
	must(t, db.ReceivingDomains().InsertAddress(ctx, o.org, d.ID, o.received.address))
	o.received.domain = d
	change, found, err := db.ReceivingRoutes().Change(ctx, o.received.target(o.org))
	must(t, err)
	if !found {
		t.Fatal("nothing to publish")
	}
	must(t, db.ReceivingRoutes().Publish(ctx, receiving.Publication{Change: change, At: now}))
	m := inbound.Message{ID: core.NewID(), ReceivedAt: now}
	o.received.entry = receiving.LogEntry{
		Message: receiving.Message{
			ID: core.NewID(), MessageID: m.ID, DomainID: d.ID, Domain: d.Domain, Recipients: []string{"same@x"}, Outcome: receiving.Received, ReceivedAt: now, UpdatedAt: now,
		},
		States:  []receiving.State{{State: receiving.Received, OccurredAt: now}},
		Content: &m, ExpiresAt: later(60), Wanted: &receiving.Wanted{Recipients: []string{"same@x"}, Entities: map[string]json.RawMessage{}},
	}
	added, err := db.ReceivedDeliveries().Add(ctx, o.org, o.received.entry)
	must(t, err)
	if !added[0].New || !added[0].Kept {
		t.Fatal("the message was not added")
	}
}

// receivingState returns the organization's domain, addresses and mail.
func (o ownedObjects) receivingState(t *testing.T, db *storage.DB) []any {
	t.Helper()
	var seen []any
	for _, method := range []string{
		"receiving.Store.Domains", "receiving.Store.Addresses", "receiving.LogStore.Messages", "receiving.LogStore.Message", "receiving.DeliveryStore.Content",
		"receiving.DeliveryStore.Published", "receiving.DeliveryStore.Entities",
	} {
		found, err := storeCalls(o, o.org)[method](t, db)
		must(t, err)
		seen = append(seen, found)
	}
	leased := receiving.Endpoint{Target: o.received.target(o.org), URL: o.received.domain.Webhook.URL, Secret: o.received.domain.Secret}
	items, err := db.ReceivedDeliveries().Items(t.Context(), leased, later(1_000_000), nil, 10)
	must(t, err)
	return append(seen, items)
}

// receivingCalls returns calls about receiving domains. The organization org makes them with the
// objects of another organization, o.
func receivingCalls(o ownedObjects, org string) map[string]storeCall {
	mine := o.received
	stolen := mine.domain
	stolen.Webhook = nil
	return map[string]storeCall{
		"receiving.Store.Domains": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReceivingDomains().Domains(t.Context(), org)
		},
		"receiving.Store.Domain": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReceivingDomains().Domain(t.Context(), org, mine.domain.Domain)
		},
		"InsertDomain": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.ReceivingDomains().InsertDomain(t.Context(), org, stolen)
		},
		"UpdateDomain": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.ReceivingDomains().UpdateDomain(t.Context(), org, stolen)
		},
		"DeleteDomain": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.ReceivingDomains().DeleteDomain(t.Context(), org, mine.domain.ID, later(1))
		},
		"SaveCheck": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.ReceivingDomains().SaveCheck(t.Context(), org, stolen)
		},
		"receiving.Store.Addresses": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReceivingDomains().Addresses(t.Context(), org, mine.domain.ID)
		},
		"CountAddresses": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReceivingDomains().CountAddresses(t.Context(), org, mine.domain.ID)
		},
		"DeleteAddress": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReceivingDomains().DeleteAddress(t.Context(), org, mine.domain.ID, "same", later(1))
		},
		"EndDeliveries": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.ReceivedLog().EndDeliveries(t.Context(), org, mine.domain.ID, "stolen", later(1))
		},
		"Change": func(t *testing.T, db *storage.DB) (any, error) {
			_, found, err := db.ReceivingRoutes().Change(t.Context(), mine.target(org))
			return found, err
		},
		"Publish": func(t *testing.T, db *storage.DB) (any, error) {
			change := receiving.Change{Target: mine.target(org), Name: mine.domain.Domain, Revision: 1, Deleted: true}
			return nil, db.ReceivingRoutes().Publish(t.Context(), receiving.Publication{Change: change, At: later(1)})
		},
		"PutOff": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.ReceivingRoutes().PutOff(t.Context(), receiving.Change{Target: mine.target(org), Revision: 1}, later(1))
		},
		"Forget": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.ReceivingRoutes().Forget(t.Context(), org, later(1_000_000))
		},
	}
}

// receivedCalls returns calls about received mail. The organization org makes them with the mail
// of another organization, o.
func receivedCalls(o ownedObjects, org string) map[string]storeCall {
	mine := o.received
	m := mine.entry.Message
	return map[string]storeCall{
		"receiving.LogStore.Messages": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReceivedLog().Messages(t.Context(), org, receiving.MessageFilter{}, nil, 10)
		},
		"receiving.LogStore.Message": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReceivedLog().Message(t.Context(), org, m.ID)
		},
		"receiving.DeliveryStore.Published": func(t *testing.T, db *storage.DB) (any, error) {
			_, found, err := db.ReceivedDeliveries().Published(t.Context(), mine.target(org))
			return found, err
		},
		"receiving.DeliveryStore.Entities": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReceivedDeliveries().Entities(t.Context(), mine.target(org), []string{"same"})
		},
		"receiving.DeliveryStore.Content": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReceivedDeliveries().Content(t.Context(), org, m.MessageID)
		},
		"receiving.DeliveryStore.Message": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReceivedDeliveries().Message(t.Context(), org, m.ID)
		},
		"Resendable": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReceivedDeliveries().Resendable(t.Context(), mine.target(org), start.Add(-time.Hour), later(1_000), nil, 10)
		},
		"receiving.DeliveryStore.Requeue": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.ReceivedDeliveries().Requeue(t.Context(), org, m, nil, receiving.State{State: receiving.Retrying, OccurredAt: later(1)})
		},
		"ExpiredContents": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReceivedDeliveries().ExpiredContents(t.Context(), org, later(1_000_000), 10)
		},
		"DeleteContents": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.ReceivedDeliveries().DeleteContents(t.Context(), org, []string{m.MessageID})
		},
		"DeleteMessages": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReceivedDeliveries().DeleteMessages(t.Context(), org, later(1_000_000), 10)
		},
	}
}
