package rest_test

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/templates"
)

// mirrored adds two templates to the simulated sending account. It then runs the jobs that
// copy the account's channels and templates into Mailhelm's database.
func mirrored(t *testing.T, p *product.Product) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	for _, name := range []string{"Welcome", "Receipt"} {
		if err := p.Simulator.PutTemplate(t.Context(), p.OrgID, sending.Template{Name: name, Subject: "Hello {{name}}", Text: "Hi"}); err != nil {
			t.Fatal(err)
		}
	}
	follower := channels.New(channels.Config{Store: p.DB.Channels(), Account: p.Simulator, Clock: p.Clock.Now, Log: log})
	if err := follower.Sync(t.Context(), p.OrgID); err != nil {
		t.Fatal(err)
	}
	copied := templates.New(templates.Config{Store: p.DB.Templates(), Managed: p.DB.ManagedTemplates(), Account: p.Simulator, Clock: p.Clock.Now, Log: log})
	if err := copied.Sync(t.Context(), p.OrgID); err != nil {
		t.Fatal(err)
	}
}

func TestResourcesOfTheSendingAccountAreReadable(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		mirrored(t, p)
		a := on(t, p)
		for path, member := range map[string]string{
			"/v1/channels/marketing":                 `"tracking_domain":"click.example.com"`,
			"/v1/identities/EXAMPLE.com":             `"verification_status":"success","dkim_status":"success","mail_from_domain":null`,
			"/v1/identities/NEWS%40example.org":      `"type":"email"`,
			"/v1/tracking-domains/Click.Example.com": `"dns_records":[{"type":"CNAME","name":"click.example.com","value":"r.eu-central-1.awstrack.me"}]`,
			"/v1/templates/welcome":                  `"variables":[{"name":"name","required":true,"default":null}]`,
			"/v1/templates?untagged=true":            `"source":"import"`,
			"/v1/channels":                           `"status":"discovered"`,
			"/v1/identities":                         `"identity":"example.net"`,
			"/v1/tracking-domains":                   `"ssl_status":"`,
			"/v1/templates?tag=none":                 `"data":[]`,
		} {
			if got := a.do(t, "GET", path, "").want(200); !strings.Contains(string(got.body), member) {
				t.Errorf("%s shows no %s: %s", path, member, got.body)
			}
		}
	})
}

// TestAChannelIsNamedByItsID checks that the REST API returns a channel's id and filters by
// it. MCP tools must accept the id wherever they accept the slug.
func TestAChannelIsNamedByItsID(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		mirrored(t, p)
		a, agent := on(t, p), p.Token(t, p.MCPURL)
		var one struct{ ID, Slug string }
		a.do(t, "GET", "/v1/channels/marketing", "").want(200).decode(&one)
		var page struct{ Data []struct{ ID, Slug string } }
		a.do(t, "GET", "/v1/channels?limit=200", "").want(200).decode(&page)
		if !core.IsID(one.ID) || !slices.Contains(page.Data, one) {
			t.Fatalf("%+v, listed %+v", one, page.Data)
		}
		sent := p.Clock.Now().Add(-time.Hour)
		event := messages.Event{
			ID: "over", MessageID: "over", Type: messages.Send, OccurredAt: sent, Mail: messages.Mail{From: "me@shop.example", SentAt: sent, Channel: "marketing"},
		}
		_, err := messages.New(messages.Config{
			Store: p.DB.Messages(), Transactor: p.DB, Clock: p.Clock.Now,
			Recorders: []messages.Recorder{reports.New(reports.Config{Store: p.DB.Reports(), Clock: p.Clock.Now})},
		}).Record(t.Context(), p.OrgID, []messages.Event{event})
		must(t, err)
		for _, path := range []string{"/v1/messages?identity=shop.example&channel=", "/v1/reports/deliverability?identity=shop.example&channel="} {
			var filtered struct{ Data []map[string]any }
			if a.do(t, "GET", path+strings.ToUpper(one.ID), "").want(200).decode(&filtered); len(filtered.Data) != 1 {
				t.Errorf("%s: %+v", path, filtered)
			}
			a.do(t, "GET", path+"marketing", "").refused(422, core.CodeValidationFailed)
		}
		for _, tool := range []string{"messages_search", "reports_get_sending_health", "sending_readiness_check"} {
			by := func(channel string) map[string]any {
				var shown map[string]any
				a.callTool(t, agent, tool, `{"channel":"`+channel+`"}`).decode(&shown)
				// the member "checks" contains the channel as the caller named it: by slug or
				// by id
				delete(shown, "checks")
				delete(shown, "from")
				delete(shown, "to")
				return shown
			}
			if diff := cmp.Diff(by("marketing"), by(one.ID)); diff != "" || by(one.ID)["code"] != nil {
				t.Errorf("%s (-slug +id):\n%s", tool, diff)
			}
		}
		var ready struct {
			Checks []struct{ Name, Status string }
		}
		a.callTool(t, agent, "sending_readiness_check", `{"channel":"`+one.ID+`"}`).decode(&ready)
		if !slices.ContainsFunc(ready.Checks, func(c struct{ Name, Status string }) bool { return c.Name == "channel" && c.Status != "fail" }) {
			t.Errorf("%+v", ready)
		}
	})
}

func TestUnknownResourcesOfTheSendingAccount(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		mirrored(t, p)
		a := on(t, p)
		hostile := []string{
			"none", "%00", "a%00b", "%ff", "..%2f..%2fetc", "%E2%80%AE", "'%20OR%201=1--", "%25", strings.Repeat("x", 250), strings.Repeat("x", 3000),
		}
		for _, collection := range []string{"/v1/channels/", "/v1/identities/", "/v1/tracking-domains/", "/v1/templates/"} {
			for _, value := range hostile {
				got := a.do(t, "GET", collection+value, "")
				if got.status != 404 && got.status != 422 && got.status != 400 || value == "none" && got.status != 404 {
					t.Errorf("%s%.40s: %d %s", collection, value, got.status, got.body)
				}
			}
		}
		first := a.do(t, "GET", "/v1/channels?limit=1", "").want(200).page().Pagination.NextCursor
		if first == nil {
			t.Fatal("the channels fit on one page")
		}
		for _, query := range []string{
			"/v1/identities?cursor=" + *first, "/v1/tracking-domains?cursor=x", "/v1/templates?cursor=" + *first, "/v1/channels?limit=0", "/v1/channels?limit=201",
			"/v1/templates?tag=a&untagged=true", "/v1/templates?untagged=maybe", "/v1/templates?tag=%00",
		} {
			if got := a.do(t, "GET", query, ""); got.status != 422 && (got.status != 200 || !strings.HasSuffix(query, "%00")) {
				t.Errorf("%s: %d %s", query, got.status, got.body)
			}
		}
		// The channels, identities, tracking domains and templates are not found by another
		// organization.
		other := a.as(p.Other.Live.APIKey)
		for _, path := range []string{"/v1/channels/marketing", "/v1/identities/example.com", "/v1/tracking-domains/click.example.com", "/v1/templates/welcome"} {
			if got := other.do(t, "GET", path, ""); got.status != 404 {
				t.Errorf("%s: %d %s", path, got.status, got.body)
			}
		}
	})
}
