package inbound

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/receiving"
)

// patience is how long tests wait for mail and webhooks.
const patience = 30 * time.Second

// open adds a verified receiving domain with a webhook, and returns the secret.
func open(t *testing.T, p *product.Product, name, webhook string) string {
	t.Helper()
	d := receiving.Domain{ID: core.NewID(), Domain: name, Status: receiving.Verified, Records: []receiving.Record{}, CreatedAt: p.Clock.Now()}
	if err := p.DB.ReceivingDomains().InsertDomain(t.Context(), p.OrgID, d); err != nil {
		t.Fatal(err)
	}
	var saved struct {
		Secret string `json:"hmac_secret"`
	}
	call(t, p, http.MethodPut, "/domains/"+name+"/webhook", `{"webhook_url":"`+webhook+`"}`, http.StatusOK, &saved)
	return saved.Secret
}

// mailTo sends a mail to an address as soon as the mail of its domain is received.
func mailTo(t *testing.T, p *product.Product, address string) {
	t.Helper()
	product.Await(t, patience, func() error { return send(p.SMTPAddr, address) })
}

// entry is a message of the log.
type entry struct {
	ID      string  `json:"id"`
	Outcome string  `json:"outcome"`
	States  []state `json:"states"`
}

type state struct {
	State      string    `json:"state"`
	OccurredAt time.Time `json:"occurred_at"`
	Detail     string    `json:"detail"`
	HTTPStatus *int      `json:"http_status"`
}

// entries returns the messages of a domain with their states, the newest first.
func entries(t *testing.T, p *product.Product, name string) []entry {
	t.Helper()
	var page struct{ Data []entry }
	call(t, p, http.MethodGet, "/messages?domain="+url.QueryEscape(name), "", http.StatusOK, &page)
	for i, e := range page.Data {
		call(t, p, http.MethodGet, "/messages/"+e.ID, "", http.StatusOK, &page.Data[i])
	}
	return page.Data
}

// awaitStates waits until the only message of a domain has a number of states, and returns it.
func awaitStates(t *testing.T, p *product.Product, name string, n int) entry {
	t.Helper()
	var only entry
	product.Await(t, patience, func() error {
		all := entries(t, p, name)
		if len(all) != 1 || len(all[0].States) != n || all[0].Outcome != all[0].States[n-1].State {
			return fmt.Errorf("messages of %s: %+v, want one with %d states", name, all, n)
		}
		only = all[0]
		return nil
	})
	return only
}

// desk returns what people do with deliveries.
func desk(p *product.Product) receiving.Desk {
	return receiving.Desk{Domains: p.DB.ReceivingDomains(), Store: p.DB.ReceivedDeliveries(), Transactor: p.DB, Audit: p.DB.Audit(), Clock: p.Clock.Now}
}
