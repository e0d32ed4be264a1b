package rest_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// eachEngine runs a test with a product on each database.
func eachEngine(t *testing.T, opts product.Options, test func(t *testing.T, a *api)) {
	t.Helper()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		opts := opts
		opts.Postgres = postgres
		test(t, start(t, opts))
	})
}

// awaitDomain waits until the server has read from the account that example.com is verified.
func (a *api) awaitDomain(t *testing.T) {
	t.Helper()
	product.Await(t, 30*time.Second, func() error {
		if got := a.do(t, "GET", "/v1/identities/example.com", ""); got.status != 200 {
			return fmt.Errorf("example.com: %d", got.status)
		}
		return nil
	})
}

// minted has the members of a new inbox that the tests read.
type minted struct {
	ID, Address, Status string
	PollURL             string    `json:"poll_url"`
	PullURL             string    `json:"pull_url"`
	ExpiresAt           time.Time `json:"expires_at"`
	PullToken           struct {
		ID     string
		Prefix string
	} `json:"pull_token"`
}

// mintInbox creates an inbox with the body of a request, "" for none.
func (a *api) mintInbox(t *testing.T, body string) minted {
	t.Helper()
	var m minted
	a.do(t, "POST", "/v1/inboxes", body).want(201).decode(&m)
	return m
}

// form returns a body with each id, time and link replaced by its kind.
func form(body []byte) string {
	text := string(body)
	for _, kind := range [][2]string{
		{`"https?://[^"]*/p/[A-Za-z0-9]{32,}/messages"`, "PULL"},
		{`"https?://[^"]*/v1/inboxes/[0-9a-f-]{36}/messages"`, "POLL"},
		{`"[0-9a-f]{8}-[0-9a-f-]{27}"`, "ID"},
		{`"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z"`, "TIME"},
		{`"[a-z0-9]{10}@[^"]*"`, "ADDRESS"},
		{`"prefix":"[^"]{8}"`, `"prefix":PREFIX`},
	} {
		text = regexp.MustCompile(kind[0]).ReplaceAllString(text, kind[1])
	}
	return text
}

// The members of an inbox and of a pull link, in their order.
const (
	pullTokenForm = `{"id":ID,"prefix":PREFIX,"label":"default","created_at":TIME,"revoked_at":null`
	inboxForm     = `"id":ID,"address":ADDRESS,"expires_at":TIME,"poll_url":POLL,"pull_token":` + pullTokenForm + `},"restricted":false,` +
		`"visibility":"private","label":"","status":"active","allowed_senders":[],"message_count":0,"dropped_count":0,"created_at":TIME`
)

// TestInboxAnswers checks the bodies and headers of every answer about an inbox that lives, with
// the order of the members.
func TestInboxAnswers(t *testing.T) {
	t.Parallel()
	eachEngine(t, product.Options{}, func(t *testing.T, a *api) {
		a.awaitDomain(t)
		wants := func(got *answer, want string) {
			t.Helper()
			if f := form(got.body); f != want || got.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: Cache-Control %q,\ngot  %s\nwant %s", got.call, got.header.Get("Cache-Control"), f, want)
			}
		}
		bare := a.do(t, "POST", "/v1/inboxes", "").want(201)
		wants(bare, `{`+inboxForm+`,"pull_url":PULL}`)
		var m minted
		bare.decode(&m)
		if left := m.ExpiresAt.Sub(a.Clock.Now()); left < 590*time.Second || left > 600*time.Second {
			t.Errorf("it lives for %s", left)
		}
		path := "/v1/inboxes/" + m.ID
		wants(a.do(t, "GET", "/v1/inboxes", "").want(200), `{"data":[{`+inboxForm+`}]}`)
		wants(a.do(t, "GET", path, "").want(200), `{`+inboxForm+`}`)
		wants(a.do(t, "GET", path+"/messages", "").want(200), `{"messages":[],"cursor":"0","expires_at":TIME}`)
		wants(a.do(t, "GET", path+"/messages?after=0&wait=0", "").want(200), `{"messages":[],"cursor":"0","expires_at":TIME}`)
		wants(a.do(t, "GET", path+"/pull-tokens", "").want(200), `{"data":[`+pullTokenForm+`}],"pagination":{"has_more":false,"next_cursor":null}}`)
		wants(a.do(t, "POST", path+"/pull-tokens", "").want(201), pullTokenForm+`,"pull_url":PULL}`)
		labelled := strings.ReplaceAll(strings.Replace(`{`+inboxForm+`}`, `"private","label":""`, `"org","label":"x"`, 1), `"revoked_at":null`, `"revoked_at":TIME`)
		a.do(t, "DELETE", path+"/pull-tokens/"+m.PullToken.ID, "").want(204)
		wants(a.do(t, "PATCH", path, `{"label":"x","visibility":"org"}`).want(200), labelled)
		restricted := a.do(t, "POST", "/v1/inboxes", `{"ttl":3600,"label":"y","visibility":"org","allowed_senders":["@Example.com"],"account_ref":"Customer:1/a@b"}`).want(201)
		wants(restricted, `{`+strings.NewReplacer(`"restricted":false`, `"restricted":true,"restriction_source":"verified","account_ref":"Customer:1/a@b"`,
			`"private","label":""`, `"org","label":"y"`, `"allowed_senders":[]`, `"allowed_senders":["@example.com"]`).Replace(inboxForm)+`,"pull_url":PULL}`)
		wants(a.do(t, "DELETE", path, "").want(204), "")
	})
}

// TestInboxRefusals checks the status, the error code and the named field of refused calls.
func TestInboxRefusals(t *testing.T) {
	t.Parallel()
	eachEngine(t, product.Options{}, func(t *testing.T, a *api) {
		a.awaitDomain(t)
		m := a.mintInbox(t, `{"ttl":60}`)
		path := "/v1/inboxes/" + m.ID
		for _, tc := range []struct{ method, path, body, field string }{
			{"POST", "/v1/inboxes", `{"ttl":59}`, "ttl"},
			{"POST", "/v1/inboxes", `{"ttl":3601}`, "ttl"},
			{"POST", "/v1/inboxes", `{"ttl":"600"}`, "ttl"},
			{"POST", "/v1/inboxes", `{"label":"` + strings.Repeat("ü", 81) + `"}`, "label"},
			{"POST", "/v1/inboxes", `{"visibility":"public"}`, "visibility"},
			{"POST", "/v1/inboxes", `{"account_ref":"a b"}`, "account_ref"},
			{"POST", "/v1/inboxes", `{"account_ref":"ann@example.com"}`, "account_ref"},
			{"POST", "/v1/inboxes", `{"allowed_senders":["@example.com","ann@example.com"]}`, "allowed_senders.1"},
			{"POST", "/v1/inboxes", `{"allowed_senders":["@unknown.example"]}`, "allowed_senders.0"},
			{"POST", "/v1/inboxes", `{"expires_at":"2030-01-01T00:00:00Z"}`, "expires_at"},
			{"GET", "/v1/inboxes?status=gone", "", "status"},
			{"GET", "/v1/inboxes?scope=all", "", "scope"},
			{"GET", "/v1/inboxes?limit=0", "", "limit"},
			{"GET", "/v1/inboxes?limit=201", "", "limit"},
			{"PATCH", path, `{"ttl":600}`, "ttl"},
			{"PATCH", path, `{"allowed_senders":[]}`, "allowed_senders"},
			{"PATCH", path, `{"account_ref":"x"}`, "account_ref"},
			{"PATCH", path, `{"label":"a\nb"}`, "label"},
			{"GET", path + "/messages?wait=26", "", "wait"},
			{"GET", path + "/messages?wait=-1", "", "wait"},
			{"GET", path + "/messages?wait=1.5", "", "wait"},
			{"GET", path + "/messages?after=-1", "", "after"},
			{"GET", path + "/messages?after=x", "", "after"},
			{"POST", path + "/pull-tokens", `{"label":"` + strings.Repeat("x", 81) + `"}`, "label"},
		} {
			p := a.do(t, tc.method, tc.path, tc.body).refused(422, core.CodeValidationFailed)
			if len(p.Errors) != 1 || p.Errors[0].Field != tc.field {
				t.Errorf("%s %s %s: %+v", tc.method, tc.path, tc.body, p.Errors)
			}
		}
		for range 9 {
			a.do(t, "POST", path+"/pull-tokens", "").want(201)
		}
		a.do(t, "POST", path+"/pull-tokens", "").refused(409, core.CodeConflict)
		test := a.as(a.Test.APIKey)
		test.do(t, "PATCH", path, `{"visibility":"org"}`).refused(404, core.CodeNotFound) // that of another owner
		a.do(t, "PATCH", path, `{"visibility":"org"}`).want(200)
		test.do(t, "DELETE", path, "").refused(403, core.CodeTestEnvironmentForbidden)
		test.do(t, "DELETE", path+"/pull-tokens/"+m.PullToken.ID, "").want(204)
		a.do(t, "DELETE", path+"/pull-tokens/"+m.PullToken.ID, "").want(204)
		a.do(t, "DELETE", path+"/pull-tokens/"+core.NewID(), "").want(204)
		a.as(a.Other.Live.APIKey).do(t, "GET", path, "").refused(404, core.CodeNotFound)
	})
}

// TestInboxEnds checks the answers about an inbox that expired and about one that was deleted,
// of the API and of the pull host, until they are forgotten after 30 days.
func TestInboxEnds(t *testing.T) {
	t.Parallel()
	eachEngine(t, product.Options{}, func(t *testing.T, a *api) {
		expired, deleted := a.mintInbox(t, `{"ttl":60}`), a.mintInbox(t, `{"ttl":60}`)
		pull := func(url string, status int) string {
			t.Helper()
			got := a.Send(t, product.Request{URL: url})
			if got.Status != status || got.Header.Get("Cache-Control") != "no-store" || got.Header.Get("Referrer-Policy") != "no-referrer" || got.Header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("%d, want %d, %v", got.Status, status, got.Header)
			}
			return strings.ReplaceAll(got.Body, got.Header.Get("X-Request-Id"), "")
		}
		summary := func(m minted) string { return strings.TrimSuffix(m.PullURL, "/messages") }
		if got, want := form([]byte(pull(summary(expired), 200))), `{"address":ADDRESS,"status":"active","expires_at":TIME,"message_count":0,"dropped_count":0,"restricted":false}`; got != want {
			t.Errorf("summary %s", got)
		}
		a.do(t, "DELETE", "/v1/inboxes/"+deleted.ID, "").want(204)
		a.do(t, "DELETE", "/v1/inboxes/"+deleted.ID, "").want(204)
		a.Clock.Advance(time.Minute)
		unknown := strings.Replace(expired.PullURL, "/p/", "/p/A", 1)
		for n := range 2 {
			for m, status := range map[minted]string{expired: "expired", deleted: "deleted"} {
				path := "/v1/inboxes/" + m.ID
				if a.do(t, "GET", path, "").want(200).decode(&m); m.Status != status {
					t.Errorf("status %s, want %s", m.Status, status)
				}
				a.do(t, "GET", path+"/messages", "").refused(410, core.CodeInboxExpired)
				a.do(t, "POST", path+"/pull-tokens", "").refused(410, core.CodeInboxExpired)
				a.do(t, "GET", path+"/pull-tokens", "").want(200)
				if rows := a.rows(t, "/v1/inboxes?status="+status); len(rows) != 1 || rows[0]["id"] != m.ID {
					t.Errorf("%s inboxes: %v", status, rows)
				}
			}
			if body := pull(expired.PullURL, 410) + pull(summary(expired), 410); strings.Count(body, `"code":"inbox_expired"`) != 4 {
				t.Errorf("expired: %s", body)
			}
			if one, other := pull(deleted.PullURL, 404), pull(unknown, 404); one != other {
				t.Errorf("a deleted inbox: %s\nan unknown link: %s", one, other)
			}
			if one, other := pull(summary(deleted), 404), pull(summary(minted{PullURL: unknown}), 404); one != other {
				t.Errorf("a deleted inbox: %s\nan unknown link: %s", one, other)
			}
			if n == 0 {
				a.Clock.Advance(29 * 24 * time.Hour)
			}
		}
		refused := a.Send(t, product.Request{URL: expired.PullURL, Bearer: a.Live.APIKey})
		if refused.Status != 400 || !regexp.MustCompile(`"error":\{"code":"wrong_host","detail":"[^"]+","message":"[^"]+"\}`).MatchString(refused.Body) {
			t.Errorf("with a credential: %d %s", refused.Status, refused.Body)
		}
	})
}

// TestInboxLimits uses up the limits on new inboxes, and checks the refusals.
func TestInboxLimits(t *testing.T) {
	t.Parallel()
	eachEngine(t, product.Options{}, func(t *testing.T, a *api) {
		a.awaitDomain(t)
		limited := func(body, reason string) {
			t.Helper()
			got := a.do(t, "POST", "/v1/inboxes", body)
			p := got.refused(429, core.CodeRateLimited)
			if wait := got.header.Get("Retry-After"); reasonOf(got) != reason || p.RetryAfter == 0 || fmt.Sprint(p.RetryAfter) != wait {
				t.Errorf("Retry-After %q: %s", wait, got.body)
			}
		}
		disable := func(disabled bool) {
			t.Helper()
			if _, err := a.DB.Inboxes().SetDisabled(t.Context(), a.OrgID, disabled); err != nil {
				t.Fatal(err)
			}
		}
		disable(true)
		got := a.do(t, "POST", "/v1/inboxes", `{"allowed_senders":["@example.com"]}`)
		got.refused(429, core.CodeRateLimited)
		if _, wait := got.header["Retry-After"]; reasonOf(got) != "org_disabled" || wait || strings.Contains(string(got.body), "retry_after") {
			t.Errorf("Retry-After %q: %s", got.header.Get("Retry-After"), got.body)
		}
		disable(false)
		for range 5 {
			a.mintInbox(t, `{"ttl":3600}`)
		}
		limited("", "cap_user")
		a.mintInbox(t, `{"allowed_senders":["@example.com"],"ttl":3600}`)
		a.platform(t, true)
		p := a.do(t, "POST", "/v1/inboxes", `{}`).refused(422, core.CodeValidationFailed)
		if len(p.Errors) != 1 || p.Errors[0].Field != "account_ref" {
			t.Errorf("without account_ref: %+v", p.Errors)
		}
		for range 5 {
			a.mintInbox(t, `{"account_ref":"Customer-1","ttl":3600}`)
		}
		limited(`{"account_ref":"Customer-1"}`, "cap_account_ref")
		a.mintInbox(t, `{"account_ref":"customer-1"}`) // another customer
		last := a.mintInbox(t, `{"account_ref":"Customer-1","allowed_senders":["ann@anywhere.example"]}`)
		if rows := a.rows(t, "/v1/inboxes?account_ref=Customer-1"); len(rows) != 6 || rows[0]["id"] != last.ID || rows[0]["restriction_source"] != "platform" {
			t.Errorf("inboxes of the customer: %v", rows)
		}
		a.platform(t, false)
		if rows := a.rows(t, "/v1/inboxes?account_ref=Customer-1&status=active"); len(rows) != 6 || rows[0]["restriction_source"] != "platform" {
			t.Errorf("after platform mode: %v", rows)
		}
	})
}

// reasonOf returns the member reason of a refusal.
func reasonOf(a *answer) string {
	var p struct{ Reason string }
	a.decode(&p)
	return p.Reason
}

// platform turns platform mode of the demo organization on or off. Servers remember callers for
// five seconds.
func (a *api) platform(t *testing.T, on bool) {
	t.Helper()
	err := a.DB.InTx(t.Context(), func(ctx context.Context) error {
		org, err := a.DB.Orgs().Org(ctx, a.OrgID)
		if err != nil {
			return err
		}
		org.PlatformMode = on
		return a.DB.Orgs().SetOrgSettings(ctx, org)
	})
	if err != nil {
		t.Fatal(err)
	}
	a.Clock.Advance(6 * time.Second)
}
