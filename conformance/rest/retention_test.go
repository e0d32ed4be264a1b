package rest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/provision"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
)

// TestRetentionFollowsTheTier checks that the response of /v1/account has the retention of
// the organization's tier. Time windows that are longer than this retention must be
// refused. A single message can be read for 365 days in every tier.
func TestRetentionFollowsTheTier(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		admins := provision.Provisioner{Stores: p.DB.Access(), Orgs: p.DB.Orgs(), Users: p.DB.Users(), Members: p.DB.Members(), Tx: p.DB, Clock: p.Clock.Now}
		for tier, days := range map[string]int{"free": 30, "team": 90, "business": 365, "admin": 365, "sponsored": 365, "demo": 365} {
			org, err := admins.CreateOrg(t.Context(), core.Org{Name: tier, Slug: tier, Tier: tier})
			must(t, err)
			fresh := *p
			fresh.OrgID = org.ID
			b := on(t, &fresh)
			b = b.as(b.mint(t, core.AllScopes()...))
			var account struct {
				Plan struct {
					RetentionDays int `json:"retention_days"`
				}
			}
			if b.do(t, "GET", "/v1/account", "").want(200).decode(&account); account.Plan.RetentionDays != days {
				t.Errorf("%s keeps %d days", tier, account.Plan.RetentionDays)
			}
			at := a.Clock.Now().AddDate(0, 0, -days-1)
			for _, path := range []string{"/v1/messages", "/v1/recipients/p%40x.example/messages", "/v1/reports/deliverability", "/v1/reports/engagement", "/v1/reports/template-performance"} {
				refusal := b.do(t, "GET", path+"?from="+at.Format(time.RFC3339), "")
				refusal.refused(403, core.CodePlanRetentionExceeded)
				if !strings.Contains(string(refusal.body), fmt.Sprintf(`"retention_days":%d`, days)) {
					t.Errorf("%s of %s: %s", path, tier, refusal.body)
				}
				b.do(t, "GET", path+"?from="+at.AddDate(0, 0, 2).Format(time.RFC3339), "").want(200)
				b.do(t, "GET", path+"?to="+at.AddDate(0, 0, 2).Format(time.RFC3339), "").want(200)
			}
			old := messages.Event{
				ID: "old", MessageID: "old-" + tier, Type: messages.Send, OccurredAt: a.Clock.Now().AddDate(0, 0, -364),
				Mail: messages.Mail{From: "me@x.example", SentAt: a.Clock.Now().AddDate(0, 0, -364)},
			}
			_, err = p.DB.Messages().RecordEvents(t.Context(), org.ID, []messages.Event{old}, a.Clock.Now())
			must(t, err)
			b.do(t, "GET", "/v1/messages/old-"+tier, "").want(200)
		}
	})
}
