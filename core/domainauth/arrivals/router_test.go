package arrivals_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/arrivals"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// counting counts the lookups of tokens.
type counting struct {
	arrivals.RouteStore
	lookups int
}

func (c *counting) TokenDomain(ctx context.Context, token string) (arrivals.Target, error) {
	c.lookups++
	return c.RouteStore.TokenDomain(ctx, token)
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	store := &counting{RouteStore: w.db.ReportArrivals()}
	r := arrivals.NewRouter(store, mailHosts, w.Now)
	unknown := "dmarc-" + strings.Repeat("7", 26) + "@" + mailHosts
	for address, want := range map[string]inbound.Refusal{
		addressed:                               inbound.Accepted,
		strings.ToUpper(addressed):              inbound.Accepted,
		unknown:                                 inbound.NoSuchInbox,
		"dmarc-" + token + "@example.org":       inbound.NotOurs,
		"dmarc-" + token + "a@" + mailHosts:     inbound.NotOurs,
		"dmarc-" + token[1:] + "@" + mailHosts:  inbound.NotOurs,
		"dmarc-" + token[1:] + "1@" + mailHosts: inbound.NotOurs,
		token + "@" + mailHosts:                 inbound.NotOurs,
		"dmarc-@" + mailHosts:                   inbound.NotOurs,
		"":                                      inbound.NotOurs,
	} {
		route, got, err := r.Route(t.Context(), address)
		if got != want || err != nil {
			t.Errorf("%s: %v, %v", address, got, err)
		}
		if got == inbound.Accepted && (route.Kind != inbound.ToReports || route.OrgID != w.org || route.TargetID != w.id || route.Recipient != address || route.LocalPart != "dmarc-"+token) {
			t.Errorf("%s: %+v", address, route)
		}
	}
	if store.lookups != 2 {
		t.Errorf("%d lookups, want one for the known token and one for the unknown one", store.lookups)
	}
}

// TestGuessesAreLimited asks for many unknown addresses. Only some of them may reach the database,
// and the others must be tried again later. A known address must stay in use.
func TestGuessesAreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	store := &counting{RouteStore: w.db.ReportArrivals()}
	r := arrivals.NewRouter(store, mailHosts, w.Now)
	if _, got, err := r.Route(t.Context(), addressed); got != inbound.Accepted || err != nil {
		t.Fatalf("%v, %v", got, err)
	}
	unknown := "dmarc-" + strings.Repeat("7", 26) + "@" + mailHosts
	later := 0
	for range 200 {
		_, got, err := r.Route(t.Context(), unknown)
		if err != nil {
			later++
		} else if got != inbound.NoSuchInbox {
			t.Fatal(got)
		}
	}
	if store.lookups != 50 || later != 151 {
		t.Errorf("%d lookups, %d refused for now", store.lookups, later)
	}
	if _, got, err := r.Route(t.Context(), addressed); got != inbound.Accepted || err != nil {
		t.Errorf("the known address: %v, %v", got, err)
	}
	w.Advance(time.Second)
	if _, got, err := r.Route(t.Context(), unknown); got != inbound.NoSuchInbox || err != nil || core.AsError(err) != nil {
		t.Errorf("a second later: %v, %v", got, err)
	}
}
