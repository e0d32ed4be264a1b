package rest_test

import (
	"context"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/rest/docs/reference/examples"
)

// Receiving domains of [documentedCalls]. One has a published webhook, an address and a
// message; one has a webhook that is not published; one has no webhook.
const (
	receivingDomain      = "in.example.com"
	pendingDomain        = "orders.example.com"
	domainWithoutWebhook = "former.example.com"
)

// loopbackHook is the URL of a webhook that a product with Options.WebhookCAs accepts without a
// lookup in the DNS. Nothing is sent there.
const loopbackHook = "https://127.0.0.1/mail"

// addReceiving stores the receiving domains that the examples name.
func (d *documentedCalls) addReceiving(t *testing.T) {
	t.Helper()
	// The quotation mark ends the URL, so that longer URLs stay as they are.
	d.ids[`https://example.com/mail"`] = loopbackHook + `"`
	d.ids[examples.ReceivedID] = examples.ReceivedID
	now := d.Clock.Now()
	published := &receiving.Webhook{Status: receiving.Published, PublishedAt: &now}
	id := d.addReceivingDomain(t, receivingDomain, receiving.Verified, published)
	d.addReceivingDomain(t, pendingDomain, receiving.PendingDNS, &receiving.Webhook{Status: receiving.Pending})
	d.addReceivingDomain(t, domainWithoutWebhook, receiving.PendingDNS, nil)
	address := receiving.Address{ID: core.NewID(), LocalPart: "order-1002", Metadata: map[string]any{"order": 1002}, CreatedAt: now}
	if err := d.DB.ReceivingDomains().InsertAddress(t.Context(), d.OrgID, id, address); err != nil {
		t.Fatal(err)
	}
	d.addReceived(t, id)
}

// addReceivingDomain stores a receiving domain with a webhook, or nil, and returns its id. No
// check of its records and no publication of its webhook is due.
func (d *documentedCalls) addReceivingDomain(t *testing.T, name string, status receiving.Status, hook *receiving.Webhook) string {
	t.Helper()
	r := receiving.Domain{
		ID: core.NewID(), Domain: name, Status: status, CreatedAt: d.Clock.Now(),
		Records: []receiving.Record{{Type: "MX", Name: name, Value: "10 mx.example.net", Verified: status == receiving.Verified}},
	}
	if r.Webhook = hook; hook != nil {
		hook.URL, hook.SpamPosture, hook.VirusPosture = loopbackHook, receiving.Tag, receiving.Drop
		r.Secret, r.SecretNumber = []byte("not a secret that opens"), 1
	}
	store := d.DB.ReceivingDomains()
	err := d.DB.InTx(t.Context(), func(ctx context.Context) error {
		if err := store.InsertDomain(ctx, d.OrgID, r); err != nil {
			return err
		}
		return store.UpdateDomain(ctx, d.OrgID, r)
	})
	if err != nil {
		t.Fatal(err)
	}
	return r.ID
}

// addReceived stores a message that a webhook has accepted.
func (d *documentedCalls) addReceived(t *testing.T, domainID string) {
	t.Helper()
	now, answered := d.Clock.Now(), 200
	m := receiving.Message{
		ID: examples.ReceivedID, MessageID: core.NewID(), DomainID: domainID, Domain: receivingDomain, Sender: "ada@example.org",
		Recipients: []string{"order-1002@" + receivingDomain}, Subject: "About my order", Outcome: receiving.Delivered, ReceivedAt: now,
		UpdatedAt: now.Add(2 * time.Second), Size: 2048,
		Verdicts: inbound.Verdicts{SPF: inbound.Pass, DKIM: inbound.Pass, DMARC: inbound.Pass, Spam: inbound.Pass, Virus: inbound.Pass},
	}
	added, err := d.DB.ReceivedDeliveries().Add(t.Context(), d.OrgID, receiving.LogEntry{Message: m, States: []receiving.State{
		{State: receiving.Received, OccurredAt: m.ReceivedAt}, {State: receiving.Delivered, OccurredAt: m.UpdatedAt, HTTPStatus: &answered},
	}})
	if err != nil || !added[0].New {
		t.Fatalf("no received message: %v", err)
	}
}

// TestReceivingDomainsNeedAMailHost checks the refusal of a server that receives no mail for
// domains.
func TestReceivingDomainsNeedAMailHost(t *testing.T) {
	t.Parallel()
	a := start(t, product.Options{NoMailHost: true})
	a.do(t, "POST", "/v1/inbound/domains", `{"domain":"in.example.com"}`).refused(422, core.CodeInboundNotDeployed)
	if rows := a.rows(t, "/v1/inbound/domains"); len(rows) != 0 {
		t.Errorf("domains: %v", rows)
	}
}
