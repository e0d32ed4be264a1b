package dashboard_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// syncChannels runs at once the background job that copies the channels of the sending
// account of the product's organization.
func syncChannels(t *testing.T, p *product.Product) {
	t.Helper()
	follower := channels.New(channels.Config{
		Store: p.DB.Channels(), Account: p.Simulator, Clock: p.Clock.Now, Log: slog.New(slog.DiscardHandler),
		Orgs: func(context.Context) ([]string, error) { return []string{p.OrgID}, nil },
	})
	if err := follower.Sync(t.Context(), p.OrgID); err != nil {
		t.Fatal(err)
	}
}

func TestChannelsPage(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		err := p.Simulator.Seed(t.Context(), p.OrgID, simulator.Setup{
			ConfigurationSets: []sending.ConfigurationSet{{Name: "Fresh"}, {Name: `<b>"x`}},
			Identities:        []sending.Identity{{Identity: "shown.example", Verification: sending.Pending}},
		})
		if err != nil {
			t.Fatal(err)
		}
		syncChannels(t, p)
		boss := owner(t, p)
		const here, adopt = "/dashboard/channels", "/dashboard/channels/fresh/adopt"
		page := boss.open(here)
		boss.wants(page, "Fresh", "discovered", "shown.example", "._domainkey.shown.example", ".dkim.amazonses.com", "&lt;b&gt;")
		// The page must show the channel's id, because filters of the API take it and no
		// answer of the API has it.
		fresh, err := p.DB.Channels().Channel(t.Context(), p.OrgID, channels.ChannelKey{Slug: "fresh"})
		if err != nil {
			t.Fatal(err)
		}
		boss.wants(page, fresh.ID)
		form := boss.form(page, adopt)
		if status, _, text := boss.send(adopt, form); status != http.StatusSeeOther {
			t.Fatalf("%d %s", status, text)
		}
		page = boss.open(here + "?done=adopted")
		boss.wants(page, "The channel is adopted", ">active<")
		boss.wants(boss.open("/dashboard/audit"), "Channel adopted")
		if status, _, _ := boss.send("/dashboard/channels/none/adopt", boss.proof(p.OrgID, "/dashboard/channels/none/adopt")); status != http.StatusNotFound {
			t.Errorf("a channel that is not there: %d", status)
		}
		if status, _, _ := boss.send(adopt, url.Values{}); status != http.StatusForbidden {
			t.Errorf("without the form's token: %d", status)
		}

		reader := newBrowser(t, p)
		reader.signIn(person(t, p, "reader", members.PlainMember, members.MayViewSending).Email, personPassword)
		if page := reader.open(here); strings.Contains(page, "/adopt") {
			t.Error("who may not adopt is offered it")
		}
		if status, _, _ := reader.send(adopt, reader.proof(p.OrgID, adopt)); status != http.StatusForbidden {
			t.Errorf("without channels.adopt: %d", status)
		}
		if status, _, _ := reader.send("/dashboard/account", nil); status != http.StatusForbidden {
			t.Errorf("without account.view: %d", status)
		}
	})
}

func TestAccountPage(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		boss := owner(t, p)
		const here, ask = "/dashboard/account", "/dashboard/account/production-access"
		boss.wants(boss.open(here), "connected", "Region", "Connect the sending account", "The account has production access")
		if err := p.Simulator.Seed(t.Context(), p.OrgID, simulator.Setup{Account: &sending.Overview{Region: "eu-central-1", Sandbox: true, SendingEnabled: true, Max24HourSend: 200, MaxSendRate: 1}}); err != nil {
			t.Fatal(err)
		}
		p.Clock.Advance(61e9)
		page := boss.open(here)
		boss.wants(page, "it can send only to verified addresses", "Production access has not been requested yet")
		form := boss.form(page, ask)
		form.Set("website", "javascript:alert(1)")
		form.Set("use_case", `short "><script>`)
		status, _, text := boss.send(ask, form)
		if status != http.StatusUnprocessableEntity {
			t.Errorf("a bad form: %d", status)
		}
		boss.wants(text, "The website must be an http or https address", "at least 50 characters", "short &#34;&gt;&lt;script&gt;")
		form.Set("website", "https://example.com")
		form.Set("use_case", strings.Repeat("We send receipts. ", 5))
		if status, _, text := boss.send(ask, form); status != http.StatusSeeOther {
			t.Fatalf("%d %s", status, text)
		}
		boss.wants(boss.open(here), "under review at the provider")
		if status, _, _ := boss.send(ask, form); status != http.StatusConflict {
			t.Errorf("a second request: %d", status)
		}
		boss.wants(boss.open("/dashboard/audit"), "Production access requested")

		p.Simulator.Faults().Set(simulator.Fault{Kind: sending.Refused})
		p.Clock.Advance(61e9)
		boss.wants(boss.open(here), "does not answer now", "failed")
	})
}
