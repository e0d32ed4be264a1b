package receiving_test

import (
	"context"
	"flag"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	corereceiving "github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/core/receiving/receivingtest"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/rest/dashboard/receiving"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

const (
	domainID  = "0198c5a0-0000-7000-8000-00000000d001"
	otherID   = "0198c5a0-0000-7000-8000-00000000d002"
	messageID = "0198c5a0-0000-8000-8000-00000000b001"

	records  = `"records":[{"type":"MX","name":"in.example.com","value":"10 mx.mailhelm.test","verified":true}]`
	hook     = `{"url":"https://hooks.example.com/mail?key=1","allow_patterns":["support","order-*"],"spam_posture":"tag","virus_posture":"drop","status":"published","published_at":"2026-03-12T15:00:00Z","error":null}`
	verified = `{"id":"` + domainID + `","domain":"in.example.com","status":"verified","last_error":null,"region":null,"cross_region":false,` + records + `,"webhook":` + hook + `,"created_at":"2026-03-01T12:00:00Z"}`
	pending  = `{"id":"` + otherID + `","domain":"new.example.com","status":"pending_dns","last_error":"missing MX new.example.com","region":"us-east-1","cross_region":true,` +
		`"records":[{"type":"MX","name":"new.example.com","value":"10 inbound-smtp.us-east-1.amazonaws.com","verified":false}],"webhook":null,"created_at":"2026-03-12T15:00:00Z"}`
	entry = `"id":"` + messageID + `","message_id":"m1","domain":"in.example.com","sender":"<ada>@example.com","recipients":["support@in.example.com","x@in.example.com"],"subject":"<script>alert(1)</script>\u202e",` +
		`"verdicts":{"spf":"PASS","dkim":"FAIL","dmarc":"GRAY","spam":"DISABLED","virus":"PROCESSING_FAILED"},"outcome":"retrying","test":false,"received_at":"2026-03-12T15:00:00Z","updated_at":"2026-03-12T15:01:00Z","size":12345`
	states = `"states":[{"state":"received","occurred_at":"2026-03-12T15:00:00Z","detail":"","http_status":null},{"state":"retrying","occurred_at":"2026-03-12T15:01:00Z","detail":"The endpoint answered 503: <busy>","http_status":503}]`
)

// results are the results of the operations, in the form of REST.
func results() map[string]string {
	return map[string]string{
		"inbound_domains_list":          `{"data":[` + verified + `,` + pending + `]}`,
		"inbound_domains_get":           verified,
		"inbound_domains_create":        pending,
		"inbound_domains_verify":        verified,
		"inbound_domains_delete":        `{"deleted":true}`,
		"inbound_webhook_replace":       strings.TrimSuffix(verified, "}") + `,"hmac_secret":"whsec_dGVzdA=="}`,
		"inbound_webhook_rotate_secret": strings.TrimSuffix(verified, "}") + `,"hmac_secret":"whsec_dGVzdA=="}`,
		"inbound_webhook_delete":        verified,
		"inbound_addresses_list": `{"data":[{"id":"` + otherID + `","local_part":"order-1","address":"order-1@in.example.com","metadata":{"order":"<b>"},"created_at":"2026-03-12T14:00:00Z"},` +
			`{"id":"` + domainID + `","local_part":"a-x","address":"a-x@in.example.com","metadata":{},"created_at":"2026-03-12T15:00:00Z"}]}`,
		"inbound_addresses_create": `{"id":"` + otherID + `","local_part":"order-1","address":"order-1@in.example.com","metadata":{},"created_at":"2026-03-12T14:00:00Z"}`,
		"inbound_addresses_delete": `{"deleted":true}`,
		"inbound_messages_list":    `{"data":[{` + entry + `}],"pagination":{"has_more":true,"next_cursor":"next"}}`,
		"inbound_messages_get":     `{` + entry + `,` + states + `}`,
	}
}

// stored has the domains as the store returns them.
type stored struct{ failingSince time.Time }

func (s stored) Domains(context.Context, string) ([]corereceiving.Domain, error) {
	return []corereceiving.Domain{{ID: domainID, Domain: "in.example.com", Webhook: &corereceiving.Webhook{}, FailingSince: &s.failingSince}}, nil
}

// office is an organization with prepared results of operations.
type office struct {
	*frametest.Office
	operations *frametest.Operations
	world      *receivingtest.World
	pages      http.Handler
}

func newOffice(t *testing.T) *office {
	t.Helper()
	db := storagetest.SQLite(t)
	o := &office{Office: frametest.NewOffice(t, frametest.DatabaseOf(db), frame.Area{Path: receiving.ListPath, Name: "Receiving domains"}, frame.Area{Path: receiving.LogPath, Name: "Received mail"})}
	o.operations = &frametest.Operations{T: t, Results: results(), Errors: map[string]*core.Error{}}
	o.Frame.Operations = o.operations
	o.world = receivingtest.NewFor(t, db, o.Org.ID)
	room, err := receiving.New(o.Frame, receiving.Config{Domains: stored{frametest.Now().Add(-2 * time.Hour)}, Desk: o.world.Desk})
	o.Must(err)
	o.pages = o.Open(room)
	return o
}

func (o *office) shown(name, path string) {
	o.T.Helper()
	_, page := frametest.Get(o.T, o.pages, path)
	frametest.CompareGolden(o.T, name, page, *update)
}

func (o *office) posted(name, path string, form url.Values) {
	o.T.Helper()
	_, page := frametest.Post(o.T, o.pages, o.Site.Visitor, path, form)
	frametest.CompareGolden(o.T, name, page, *update)
}

// webhookForm returns valid values of the form that sets a webhook.
func webhookForm() url.Values {
	return url.Values{"once": {otherID}, "url": {"https://hooks.example.com"}, "patterns": {"support\norder-*"}, "spam": {"drop"}, "virus": {"tag"}}
}

func TestGoldenPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	page := receiving.ListPath + "/" + domainID
	o.shown("domains", receiving.ListPath)
	o.shown("domain", page)
	o.shown("new", receiving.ListPath+"/new")
	o.shown("delete", page+"/delete")
	o.shown("webhook", page+"/webhook")
	o.shown("rotate", page+"/webhook/rotate")
	o.shown("remove", page+"/webhook/delete")
	o.shown("address", page+"/addresses")
	o.shown("log", receiving.LogPath+"?outcome=retrying&domain=in.example.com")
	o.shown("message", receiving.LogPath+"/"+messageID)
	o.shown("log_filtered", receiving.LogPath+"?cursor=c1&from=51&since=2026-03-01&until=2026-03-02&recipient="+url.QueryEscape(" support@in.example.com ")+"&sender="+url.QueryEscape("<b>@x.example"))
	o.shown("log_refused", receiving.LogPath+"?since=2026-03-02&until=2026-03-01")
	o.posted("secret", page+"/webhook", webhookForm())
	o.posted("secret_rotated", page+"/webhook/rotate", nil)
	o.posted("window_refused", page+"/webhook/resend", url.Values{"from": {"2026-03-12T15:00"}, "to": {"x"}})
	o.posted("address_refused", page+"/addresses", url.Values{"once": {otherID}, "local_part": {"x"}, "metadata": {"[1]"}})
	o.operations.Errors["inbound_domains_create"] = &core.Error{Code: core.CodeReceivingDomainNotOwned, Message: "No verified sending domain covers it."}
	o.posted("new_refused", receiving.ListPath+"/new", url.Values{"once": {otherID}, "domain": {"<x>"}})
	o.operations.Errors["inbound_webhook_replace"] = core.Invalid("allow_patterns.1", "must have only visible characters")
	o.posted("webhook_refused", page+"/webhook", webhookForm())
	o.operations.Errors["inbound_messages_list"] = core.Invalid("cursor", "is not a cursor of this list")
	o.shown("log_damaged_cursor", receiving.LogPath+"?cursor=x")
	o.operations.Results["inbound_domains_get"] = pending
	o.operations.Results["inbound_addresses_list"] = `{"data":[]}`
	o.shown("domain_pending", page)
	o.operations.Results["inbound_domains_list"] = `{"data":[` + strings.Replace(verified, hook, "null", 1) + `]}`
	o.shown("message_without_webhook", receiving.LogPath+"/"+messageID)
	o.operations.Results["inbound_domains_list"] = `{"data":[]}`
	o.shown("domains_none", receiving.ListPath)
	o.Allow(members.MayViewInbound)
	o.operations.Results["inbound_domains_get"] = verified
	o.shown("domain_viewer", page)
	o.shown("domains_none_viewer", receiving.ListPath)
}

// TestCalls checks the arguments with which forms call operations, and that each leads on.
func TestCalls(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	page := receiving.ListPath + "/" + domainID
	for _, c := range []struct {
		path       string
		form       url.Values
		name, want string
		status     int
	}{
		{receiving.ListPath + "/new", url.Values{"once": {otherID}, "domain": {"in.example.com"}}, "inbound_domains_create", `{"domain":"in.example.com"}`, 303},
		{page + "/verify", nil, "inbound_domains_verify", `{"domain":"` + domainID + `"}`, 303},
		{page + "/delete", nil, "inbound_domains_delete", `{"domain":"` + domainID + `"}`, 303},
		{page + "/webhook", webhookForm(), "inbound_webhook_replace", `{"allow_patterns":["support","order-*"],"domain":"` + domainID + `","spam_posture":"drop","virus_posture":"tag","webhook_url":"https://hooks.example.com"}`, 200},
		{page + "/webhook/delete", nil, "inbound_webhook_delete", `{"domain":"` + domainID + `"}`, 303},
		{page + "/addresses", url.Values{"once": {otherID}, "local_part": {"order-1"}, "metadata": {`{"order":1}`}}, "inbound_addresses_create", `{"domain":"` + domainID + `","local_part":"order-1","metadata":{"order":1}}`, 303},
		{page + "/addresses", url.Values{"once": {otherID}}, "inbound_addresses_create", `{"domain":"` + domainID + `"}`, 303},
		{page + "/addresses/delete", url.Values{"local_part": {"order-1"}}, "inbound_addresses_delete", `{"domain":"` + domainID + `","local_part":"order-1"}`, 303},
	} {
		o.operations.Calls()
		status, _ := frametest.Post(t, o.pages, o.Site.Visitor, c.path, c.form)
		calls := o.operations.Calls()
		if last := calls[len(calls)-1]; status != c.status || last.Name != c.name || last.Arguments != c.want || last.Once != c.form.Get("once") {
			t.Errorf("%s: %d, %+v", c.path, status, last)
		}
	}
}

// nextPage finds the link to the next page of a list.
var nextPage = regexp.MustCompile(`href="([^"]*)" rel="next"`)

// TestLogFilters checks the arguments with which the log is read, and that each page keeps the
// filters.
func TestLogFilters(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for query, want := range map[string]string{
		"":                                   `{"limit":50}`,
		"?outcome=":                          `{"limit":50}`,
		"?cursor=c1":                         `{"cursor":"c1","limit":50}`,
		"?since=2026-03-01&until=2026-03-01": `{"from":"2026-03-01T00:00:00Z","limit":50,"to":"2026-03-02T00:00:00Z"}`,
		"?until=2026-03-05&outcome=dropped&domain=in.example.com&recipient=+a%40in.example.com+&sender=b%40x.example&cursor=c1&from=51": `{"cursor":"c1","domain":"in.example.com","limit":50,"outcome":"dropped","recipient":"a@in.example.com","sender":"b@x.example","to":"2026-03-06T00:00:00Z"}`,
	} {
		o.operations.Calls()
		status, page := frametest.Get(t, o.pages, receiving.LogPath+query)
		calls := o.operations.Calls()
		if status != http.StatusOK || len(calls) != 1 || calls[0].Name != "inbound_messages_list" || calls[0].Arguments != want {
			t.Errorf("%s: %d %+v", query, status, calls)
		}
		asked, err := url.ParseQuery(strings.TrimPrefix(query, "?"))
		o.Must(err)
		next := html.UnescapeString(nextPage.FindStringSubmatch(page)[1])
		link, err := url.Parse(next)
		o.Must(err)
		for name := range asked {
			if got := link.Query().Get(name); name != "cursor" && name != "from" && got != asked.Get(name) {
				t.Errorf("%s: the next page is %s", query, next)
			}
		}
		if got := link.Query(); got.Get("cursor") != "next" || got.Get("from") == "" {
			t.Errorf("%s: the next page is %s", query, next)
		}
	}
	o.operations.Calls()
	for _, query := range []string{"?since=yesterday", "?until=2026-02-30", "?since=2026-03-02&until=2026-03-01"} {
		status, page := frametest.Get(t, o.pages, receiving.LogPath+query)
		if calls := o.operations.Calls(); status != http.StatusUnprocessableEntity || len(calls) != 0 || !strings.Contains(page, `role="alert"`) {
			t.Errorf("%s: %d %+v", query, status, calls)
		}
	}
}

// TestDesk sends the forms whose work is not an operation, with the permission and without.
func TestDesk(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id, _ := o.world.Open(t, "https://hooks.example.com/mail", "")
	m := o.world.Message(core.NewID())
	o.world.Receive(t, m, "x@in.example.com")
	o.world.Send(t)
	log := func() []corereceiving.Message {
		all, err := o.world.DB.ReceivedLog().Messages(t.Context(), o.Org.ID, corereceiving.MessageFilter{}, nil, 10)
		o.Must(err)
		return all
	}
	o.operations.Results["inbound_domains_get"] = strings.ReplaceAll(verified, domainID, id)
	o.operations.Results["inbound_messages_get"] = strings.ReplaceAll(results()["inbound_messages_get"], messageID, log()[0].ID)
	page := receiving.ListPath + "/" + id
	one := func(name, path string, form url.Values) frametest.Form {
		return frametest.Form{Name: name, Needs: members.MayManageInbound, Also: []members.Permission{members.MayViewInbound}, Path: path, Form: form, Done: http.StatusSeeOther}
	}
	first := log()[0].ID
	state := func() []any {
		message, err := o.world.DB.ReceivedLog().Message(t.Context(), o.Org.ID, first)
		o.Must(err)
		return []any{log(), message.States}
	}
	o.CheckPermissions(o.pages, state,
		one("resend", receiving.LogPath+"/"+log()[0].ID+"/resend", nil),
		one("window", page+"/webhook/resend", url.Values{"from": {"2026-03-01T00:00"}, "to": {"2026-03-02T00:00"}}),
		one("test", page+"/webhook/test", nil),
	)
	if all := log(); len(all) < 2 || !all[0].Test && !all[1].Test {
		t.Errorf("no test message: %+v", all)
	}
}
