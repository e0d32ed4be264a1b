package access_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestUnusedRegistrationsAreBounded(t *testing.T) {
	t.Parallel()
	g := newGate(t, storagetest.SQLite(t))
	g.must(g.db.InTx(t.Context(), func(ctx context.Context) error {
		for range 1000 {
			c := access.Client{ID: core.NewID(), ClientID: access.MintClientID(core.Live), Environment: core.Live, Kind: access.DynamicClient, CreatedAt: start}
			if err := g.db.Clients().InsertClient(ctx, c); err != nil {
				return err
			}
		}
		return nil
	}))
	r := access.NewRegistrations(g.db.Clients(), g.db.OpenClients(), g.clock)
	registration := access.SelfDescribed{Name: "Self", RedirectURIs: []string{"https://a.example/"}}
	_, _, err := r.Register(t.Context(), "192.0.2.1", registration)
	g.wantCode("number 1001", err, core.CodeRateLimited)
	if n, err := g.db.OpenClients().PurgeDynamicClients(t.Context(), start.Add(time.Second)); n != 1000 || err != nil {
		t.Errorf("%d purged, %v", n, err)
	}
	registration.Name = strings.Repeat("ä", 200) + "\n"
	c, _, err := r.Register(t.Context(), "192.0.2.1", registration)
	if err != nil || len([]rune(c.Name)) != 100 || c.OrgID != "" || c.RefreshDays != 30 || c.Kind != access.DynamicClient {
		t.Errorf("%+v, %v", c, err)
	}
}
