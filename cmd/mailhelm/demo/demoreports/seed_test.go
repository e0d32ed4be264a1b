package demoreports_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/demo/demoreports"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestSeed gives an organization the reports, twice, and checks what is known from them.
func TestSeed(t *testing.T) {
	t.Parallel()
	storagetest.Once(t, func(t *testing.T, db *storage.DB) {
		org, ctx := core.NewID(), t.Context()
		must(t, db.Orgs().InsertOrg(ctx, core.Org{ID: org, Name: "Org", Slug: org, Tier: "demo", RetentionDays: 90}))
		must(t, db.Channels().Mirror(ctx, org, channels.Seen{
			Sync:       channels.Sync{Account: org, Region: "eu-central-1", At: now},
			Identities: []sending.Identity{{Identity: demoreports.Domain, Verification: sending.Success, DKIMTokens: []string{"tok1", "tok2"}}},
		}))
		s := demoreports.Seeder{
			DB: db, OrgID: org, UserID: core.NewID(), Address: func(token string) string { return token + "@inbox.localhost" }, Clock: func() time.Time { return now },
		}
		must(t, s.Ensure(ctx))
		before := known(t, db, org)
		must(t, s.Ensure(ctx))
		if after := known(t, db, org); after != before {
			t.Errorf("the second time changed %+v to %+v", before, after)
		}
		want := summary{sources: 8, confirmed: 3, rejected: 1, coverage: 30, events: 7, findings: before.findings}
		if before != want || before.findings == 0 {
			t.Errorf("%+v, expected %+v", before, want)
		}
	})
}

// summary is what is known of the domain.
type summary struct{ sources, confirmed, rejected, coverage, findings, events int }

func known(t *testing.T, db *storage.DB, org string) summary {
	t.Helper()
	store := db.DomainAuth()
	d, err := store.Domain(t.Context(), org, demoreports.Domain)
	must(t, err)
	all, err := store.Summaries(t.Context(), org, []string{d.ID}, domainauth.Days{From: now.Truncate(24*time.Hour).AddDate(0, 0, -30), To: now.Truncate(24 * time.Hour)})
	must(t, err)
	events, err := store.CountEvents(t.Context(), org, d.ID, domainauth.EventFilter{})
	must(t, err)
	s := all[d.ID]
	return summary{s.Confirmed + s.Rejected + s.Unreviewed, s.Confirmed, s.Rejected, s.CoverageDays, s.Findings, events}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
