package dmarc

import (
	"context"
	"errors"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/mailauth/mailauthtest"
	"github.com/mailhelm/mailhelm/core/sending"
)

// connections has the connections of organizations. Other organizations have none.
type connections struct {
	sending.Connections
	of map[string]sending.Connection
}

var errBroken = errors.New("the database does not answer")

func (c connections) Connection(_ context.Context, orgID string) (sending.Connection, error) {
	if orgID == "broken" {
		return sending.Connection{}, errBroken
	}
	if found, ok := c.of[orgID]; ok {
		return found, nil
	}
	return sending.Connection{}, core.NotFound("connection")
}

// TestMadeUpDomainsAreNotPolled checks that name servers are asked about domains of real accounts
// only, unless the configuration says otherwise.
func TestMadeUpDomainsAreNotPolled(t *testing.T) {
	t.Parallel()
	known := connections{of: map[string]sending.Connection{"real": {Provider: sending.SES}, "simulated": {Provider: sending.Simulated}}}
	for _, all := range []bool{false, true} {
		for org, want := range map[string]bool{"real": true, "simulated": false, "none": false} {
			if got, err := (polled{known, all}).isPolled(t.Context(), org); got != (want || all) || err != nil {
				t.Errorf("all %v, %s: %v, %v", all, org, got, err)
			}
		}
	}
	if got, err := (polled{connections: known}).isPolled(t.Context(), "broken"); got || !errors.Is(err, errBroken) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestLookups asks a name server on loopback, and none if the configuration says so.
func TestLookups(t *testing.T) {
	t.Parallel()
	zone := mailauthtest.NewZone(t, `a.example. TXT "v=spf1 -all"`)
	cfg := config.Config{Clock: core.SystemClock, DNSServers: []string{zone.Serve(t).String()}}
	l := NewLookups(cfg)
	for range 3 {
		if texts, err := l.Resolver.TXT(t.Context(), "a.example"); err != nil || len(texts) != 1 {
			t.Fatal(texts, err)
		}
	}
	if n := zone.Queries("a.example"); n != 1 {
		t.Errorf("%d queries, want a remembered answer", n)
	}
	if l.networks(t.Context())() == nil {
		t.Error("no networks of senders")
	}
	cfg.DNSServers = []string{"none"}
	if l := NewLookups(cfg); l.Resolver != nil || l.networks(t.Context()) != nil {
		t.Error("name servers although there are none")
	}
}
