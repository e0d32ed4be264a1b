package whole

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/demo/demodata"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contactimport"
	"github.com/mailhelm/mailhelm/core/contactupload"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/suppression"
	contactimportstore "github.com/mailhelm/mailhelm/storage/contactimport"
)

// demoRead has the arguments of a read of the demo organization, with texts that its answer
// must contain.
type demoRead struct {
	arguments map[string]any
	texts     []string
}

// aboutSending returns calls that read the demo organization's mail, keyed by operation,
// with texts that each answer must contain. bounced is the id of a message with a hard
// bounce, and address is its recipient.
func aboutSending(bounced, address string) map[string]demoRead {
	return map[string]demoRead{
		"account_get":                  {nil, []string{`"status":"granted"`, `"template_version":13`, `"up_to_date":true`, `"sandbox":false`}},
		"sending_readiness_check":      {nil, []string{"production_access"}},
		"reports_deliverability":       {map[string]any{"group_by": "month"}, []string{`"complained":`, `"delivery_rate":0.9`}},
		"reports_engagement":           {map[string]any{"group_by": "week"}, []string{"unique_opens"}},
		"reports_template_performance": {nil, []string{"weekly-newsletter", "order-receipt", "brewing-guide"}},
		"reports_get_sending_health":   {nil, []string{`"bounced":`, `"trend":[{`}},
		"suppressions_list":            {nil, []string{`"bounce"`, `"complaint"`}},
		"suppressions_get":             {map[string]any{"email": address}, []string{address}},
		"suppressions_check_address":   {map[string]any{"email": address}, []string{"permanent_bounce"}},
		"undeliverable_list":           {nil, []string{"listed", "permanent_bounce"}},
		"undeliverable_rules":          {nil, []string{"standard"}},
		"channels_list":                {nil, []string{`"active"`, `"discovered"`, "marketing"}},
		"channels_get":                 {map[string]any{"name": "marketing"}, []string{"click.example.com"}},
		"identities_list":              {nil, []string{"news@example.org", `"pending"`}},
		"identities_get":               {map[string]any{"identity": "example.com"}, []string{`"success"`}},
		"tracking_domains_list":        {nil, []string{"click.example.com", "verified"}},
		"tracking_domains_get":         {map[string]any{"domain": "click.example.com"}, []string{"verified"}},
		"messages_list":                {map[string]any{"template": "weekly-newsletter"}, []string{"This week at the roastery"}},
		"messages_search":              {map[string]any{"status": "Bounce"}, []string{`"Bounce"`}},
		"messages_get":                 {map[string]any{"id": bounced}, []string{`"Bounce"`}},
		"messages_events":              {map[string]any{"id": bounced}, []string{`"Send"`, `"Bounce"`}},
		"messages_diagnose":            {map[string]any{"message_id": bounced}, []string{"Bounce"}},
		"recipients_messages":          {map[string]any{"email": address}, []string{bounced}},
		"templates_list":               {nil, []string{"weekly-newsletter", "Your Fernhill receipt"}},
		"templates_get":                {map[string]any{"slug": "welcome"}, []string{"Welcome to Fernhill Coffee"}},
		"workflows_list":               {nil, []string{`"welcome"`, `"reorder-reminder"`, `"win-back"`, `"draft"`}},
		"workflows_get":                {map[string]any{"id": "reorder-reminder"}, []string{`"require_send_approval":true`, `"status":"active"`}},
		"workflows_runs":               {map[string]any{"id": "welcome", "status": "active"}, []string{`"trigger_cause":"activity_triggered"`, `"next_action_at":"2`}},
		"workflows_exits":              {map[string]any{"id": "reorder-reminder"}, []string{`"exit_kind":"step"`, `"exit_kind":null`}},
		"workflows_funnel":             {map[string]any{"id": "welcome"}, []string{`"node_type":"wait_for"`, `"filtered":`}},
		"workflows_get_performance":    {map[string]any{"workflow": "reorder-reminder"}, []string{`"node_type":"if"`, `"held":`}},
	}
}

// TestDemo starts the demo with 90 days of sent mail and checks what it shows. All parts of
// the test use the same demo, because creating the sent mail takes seconds.
func TestDemo(t *testing.T) {
	t.Parallel()
	product.OnceWith(t, product.Options{Past: true, Recipients: demodata.Recipients}, func(t *testing.T, p *product.Product) {
		t.Run("there is something to look at", func(t *testing.T) { checkReads(t, p) })
		t.Run("a message gets its events", func(t *testing.T) { checkSending(t, p) })
		t.Run("a contact file was imported", func(t *testing.T) { checkImport(t, p) })
		t.Run("history is seeded once", func(t *testing.T) { checkSecondStart(t, p) })
	})
}

// checkReads checks that every route, tool and dashboard page about sending shows data of
// the demo.
func checkReads(t *testing.T, p *product.Product) {
	t.Helper()
	bounced := newestBounce(t, p)
	c := callerOf(t, p, p.Live)
	asked := map[string]bool{}
	about := aboutSending(bounced.ID, bounced.To)
	for _, s := range subjects() {
		want, known := about[s.Name]
		if !known {
			continue
		}
		asked[s.Name] = true
		got := c.call(t, s, want.arguments)
		if status, code := got.outcome(); status != http.StatusOK {
			t.Errorf("%s: %d %s: %.300s", s.name(), status, code, got.body)
			continue
		}
		for _, text := range want.texts {
			if !strings.Contains(string(encoded(t, got.output())), text) {
				t.Errorf("%s lacks %s: %.2000s", s.name(), text, got.body)
			}
		}
	}
	for name := range about {
		if !asked[name] {
			t.Errorf("there is no %s", name)
		}
	}
	checkPages(t, p, bounced)
}

// newestBounce returns the demo's newest message with a hard bounce.
func newestBounce(t *testing.T, p *product.Product) messages.Message {
	t.Helper()
	now := p.Clock.Now()
	found, err := p.DB.Messages().Messages(t.Context(), p.OrgID, messages.Filter{
		Window: core.Window{From: now.AddDate(0, 0, -30), To: now}, Status: messages.Bounce, Template: "wholesale-reopening", Limit: 200,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range found {
		events, err := p.DB.Messages().MessageEvents(t.Context(), p.OrgID, m.ID)
		if err != nil {
			t.Fatal(err)
		}
		if last := events[len(events)-1]; last.Bounced != nil && last.Bounced.Type == messages.PermanentBounce {
			return m
		}
	}
	t.Fatal("no message came back for good")
	return messages.Message{}
}

// checkPages checks the dashboard pages about sending, signed in as the owner. bounced is a
// message with a hard bounce.
func checkPages(t *testing.T, p *product.Product, bounced messages.Message) {
	t.Helper()
	b := newBrowser(t, p)
	entry := suppression.Entry{Key: suppression.AddressKey(bounced.To)}
	const undeliverable = "/dashboard/undeliverable"
	for path, texts := range map[string][]string{
		"/dashboard/health":                {"<svg", "shops.example.net", "bounces", "Recent bounces"},
		"/dashboard/health?days=90":        {"<svg", "90 days"},
		"/dashboard/account":               {"eu-central-1", "version 13, the newest", "it has production access", "granted"},
		"/dashboard/channels":              {"marketing", ">active<", ">discovered<", "click.example.com", ">verified<", "._domainkey.example.net"},
		undeliverable:                      {">listed<", "permanent bounce"},
		undeliverable + "?q=partner":       {bounced.To[:len("partner.")]},
		undeliverable + "?status=excluded": {">excluded<"},
		undeliverable + "/" + entry.ID():   {bounced.To},
		undeliverable + "/rules":           {"standard"},
		"/dashboard/audit":                 {"Sending account connected"},
	} {
		status, _, text := b.send(http.MethodGet, p.AppURL+path, "")
		if status != http.StatusOK {
			t.Errorf("%s: %d", path, status)
		}
		for _, want := range texts {
			if !strings.Contains(strings.ToLower(text), strings.ToLower(want)) {
				t.Errorf("%s lacks %s", path, want)
			}
		}
	}
}

// checkSending sends a message with the demo's account. An event of the message must reach
// the product, so that the product shows the message with its channel.
func checkSending(t *testing.T, p *product.Product) {
	t.Helper()
	id, err := p.Simulator.Send(t.Context(), p.OrgID, sending.Message{
		Envelope: sending.Envelope{From: "Fernhill Coffee <news@example.org>", ConfigurationSet: "marketing"},
		To:       []string{demodata.FirstEmail}, Content: sending.Content{Template: "weekly-newsletter", TemplateData: `{"first_name":"Ada"}`},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := callerOf(t, p, p.Live)
	var got answer
	product.Await(t, time.Minute, func() error {
		if got = send(t, p, http.MethodGet, p.BaseURL+"/v1/messages/"+id, c.rest, ""); got.status != http.StatusOK {
			return fmt.Errorf("no event of the message: %d %s", got.status, got.body)
		}
		return nil
	})
	if channel := got.object["channel"]; channel != "marketing" {
		t.Errorf("the message went through %v: %s", channel, got.body)
	}
}

// checkSecondStart checks that a second start of the demo adds no past messages, even if
// time has passed since the first start.
func checkSecondStart(t *testing.T, p *product.Product) {
	t.Helper()
	count := func() int {
		found, err := p.DB.Messages().CountMessages(t.Context(), p.OrgID, messages.Filter{
			Window: core.Window{To: p.Clock.Now().AddDate(1, 0, 0)}, Limit: 100_000,
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	before := count()
	p.Clock.Advance(3 * 24 * time.Hour)
	p.MakePast(t)
	if after := count(); before < 5_000 || after != before {
		t.Errorf("%d messages, and %d after another start", before, after)
	}
}

// checkImport checks that the demo has an import whose counts fit together, and that the file
// of its rejected rows has the reasons.
func checkImport(t *testing.T, p *product.Product) {
	t.Helper()
	uploads := contactimport.NewUploads(contactimport.UploadConfig{Store: contactimportstore.New(p.DB.DB), Clock: p.Clock.Now})
	all, err := uploads.Uploads(t.Context(), p.OrgID)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d imports, %v", len(all), err)
	}
	got := all[0].Import
	if all[0].Status != contactupload.Completed || all[0].CompletedAt == nil || got.Updated < 10 || got.Created != 0 || got.Rejected != 3 || got.Rows != got.Updated+got.Rejected {
		t.Errorf("the import is %s, with %+v", all[0].Status, got)
	}
	var rejected strings.Builder
	if err := uploads.WriteRejected(t.Context(), p.OrgID, all[0].ID, &rejected); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"roastery at example.com", "about twenty", "must have as many fields as the header: 4, not 2"} {
		if !strings.Contains(rejected.String(), text) {
			t.Errorf("the rejected rows lack %q:\n%s", text, rejected.String())
		}
	}
}
