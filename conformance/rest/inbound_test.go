package rest_test

import (
	"crypto/x509"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/receiving"
)

// The members of a receiving domain and of its webhook, in their order.
const (
	inboundForm = `{"id":ID,"domain":"in.example.com","status":"pending_dns","last_error":null,"region":null,"cross_region":false,` +
		`"records":[{"type":"MX","name":"in.example.com","value":"10 HOST","verified":false}],"webhook":null,"created_at":TIME}`
	hookForm    = `{"url":"` + loopbackHook + `","allow_patterns":[],"spam_posture":"tag","virus_posture":"drop","status":"pending","published_at":null,"error":null}`
	addressForm = `{"id":ID,"local_part":"order-1","address":"order-1@in.example.com","metadata":{"order":1},"created_at":TIME}`
)

// inboundKinds replaces the values that differ between runs.
func inboundKinds(body []byte) string {
	text := regexp.MustCompile(`"10 [^"]+"`).ReplaceAllString(form(body), `"10 HOST"`)
	text = regexp.MustCompile(`"whsec_[A-Za-z0-9+/]{43}="`).ReplaceAllString(text, "SECRET")
	return regexp.MustCompile(`"(status|state)":"published","published_at":TIME`).ReplaceAllString(text, `"$1":"pending","published_at":null`)
}

// TestInboundAnswers checks the status and the body of each answer about receiving domains, with
// the order of the members.
func TestInboundAnswers(t *testing.T) {
	t.Parallel()
	eachEngine(t, product.Options{WebhookCAs: x509.NewCertPool()}, func(t *testing.T, a *api) {
		a.awaitDomain(t)
		wants := func(got *answer, want string) {
			t.Helper()
			if f := inboundKinds(got.body); f != want {
				t.Errorf("%s:\ngot  %s\nwant %s", got.call, f, want)
			}
		}
		const domains, one = "/v1/inbound/domains", "/v1/inbound/domains/in.example.com"
		wants(a.do(t, "POST", domains, `{"domain":"IN.Example.com"}`).want(201), inboundForm)
		a.do(t, "POST", domains, `{"domain":"in.example.com"}`).refused(409, core.CodeConflict)
		a.do(t, "POST", domains, `{"domain":"notexample.com"}`).refused(422, core.CodeReceivingDomainNotOwned)
		verified := strings.NewReplacer("pending_dns", "verified", `"verified":false`, `"verified":true`).Replace(inboundForm)
		wants(a.do(t, "POST", one+"/verify", "").want(200), verified) // a simulated account counts each record as published
		wants(a.do(t, "GET", one, "").want(200), verified)
		wants(a.do(t, "GET", domains, "").want(200), `{"data":[`+verified+`]}`)
		var d receiving.Domain
		a.do(t, "GET", one, "").want(200).decode(&d)
		wants(a.do(t, "GET", domains+"/"+d.ID, "").want(200), verified)
		a.do(t, "POST", one+"/webhook/rotate-secret", "").refused(422, core.CodeWebhookNotSet)

		hooked := strings.Replace(verified, `"webhook":null`, `"webhook":`+hookForm, 1)
		put := `{"webhook_url":"` + loopbackHook + `"}`
		withSecret := strings.TrimSuffix(hooked, "}") + `,"hmac_secret":SECRET}`
		wants(a.do(t, "PUT", one+"/webhook", put).want(200), withSecret)
		wants(a.do(t, "PUT", one+"/webhook", put).want(200), hooked)
		wants(a.do(t, "POST", one+"/webhook/rotate-secret", "").want(200), withSecret)
		for _, hook := range []string{"http://127.0.0.1/mail", "mail"} {
			if p := a.do(t, "PUT", one+"/webhook", `{"webhook_url":"`+hook+`"}`).refused(422, core.CodeValidationFailed); len(p.Errors) != 1 || p.Errors[0].Field != "webhook_url" {
				t.Errorf("%s: %+v", hook, p.Errors)
			}
		}
		a.do(t, "PUT", one+"/webhook", `{"webhook_url":"`+loopbackHook+`","allow_patterns":["a@b"]}`).refused(422, core.CodeValidationFailed)

		wants(a.do(t, "POST", one+"/addresses", `{"local_part":"Order-1","metadata":{"order":1}}`).want(201), addressForm)
		a.do(t, "POST", one+"/addresses", `{"local_part":"order-1"}`).refused(409, core.CodeConflict)
		a.do(t, "POST", one+"/addresses", `{"local_part":"a-1"}`).refused(422, core.CodeValidationFailed)
		wants(a.do(t, "GET", one+"/addresses", "").want(200), `{"data":[`+addressForm+`]}`)
		for range 2 {
			a.do(t, "DELETE", one+"/addresses/"+url.PathEscape("order-1"), "").want(204)
		}
		test := a.as(a.Test.APIKey)
		test.do(t, "DELETE", one, "").refused(403, core.CodeTestEnvironmentForbidden)
		test.do(t, "POST", one+"/webhook/rotate-secret", "").refused(403, core.CodeTestEnvironmentForbidden)
		wants(a.do(t, "DELETE", one+"/webhook", "").want(200), verified)
		a.as(a.Other.Live.APIKey).do(t, "GET", one, "").refused(404, core.CodeNotFound)
		a.do(t, "DELETE", one, "").want(204)
		a.do(t, "DELETE", one, "").refused(404, core.CodeNotFound)
	})
}

// TestInboundMessageAnswers checks the answers of the message log, and its filters and cursors.
func TestInboundMessageAnswers(t *testing.T) {
	t.Parallel()
	eachEngine(t, product.Options{}, func(t *testing.T, a *api) {
		d := &documentedCalls{api: a}
		d.addReceived(t, core.NewID())
		const row = `{"id":ID,"message_id":ID,"domain":"in.example.com","sender":"ada@example.org","recipients":["order-1002@in.example.com"],` +
			`"subject":"About my order","verdicts":{"spf":"PASS","dkim":"PASS","dmarc":"PASS","spam":"PASS","virus":"PASS"},"outcome":"delivered","test":false,` +
			`"received_at":TIME,"updated_at":TIME,"size":2048`
		var page struct{ Data []receiving.Message }
		list := a.do(t, "GET", "/v1/inbound/messages", "").want(200)
		list.decode(&page)
		if got, want := form(list.body), `{"data":[`+row+`}],"pagination":{"has_more":false,"next_cursor":null}}`; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		detail := a.do(t, "GET", "/v1/inbound/messages/"+page.Data[0].ID, "").want(200)
		if got, want := form(detail.body), row+`,"states":[{"state":"received","occurred_at":TIME,"detail":"","http_status":null},{"state":"delivered","occurred_at":TIME,"detail":"","http_status":200}]}`; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		hour := a.Clock.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
		for query, want := range map[string]int{
			"domain=in.example.com": 1, "domain=IN.example.com.": 1, "domain=other.example": 0, "sender=ADA@example.org": 1, "sender=ada": 0,
			"recipient=order-1002@in.example.com": 1, "recipient=ada@example.org": 0, "outcome=delivered": 1, "outcome=dropped": 0, "from=" + hour: 1, "to=" + hour: 0,
		} {
			if rows := a.rows(t, "/v1/inbound/messages?"+query); len(rows) != want {
				t.Errorf("%s: %d messages, want %d", query, len(rows), want)
			}
		}
		for query, field := range map[string]string{"outcome=gone": "outcome", "limit=201": "limit", "cursor=x": "cursor", "from=yesterday": "from", "from=" + hour + "&to=" + hour: "from"} {
			if p := a.do(t, "GET", "/v1/inbound/messages?"+query, "").refused(422, core.CodeValidationFailed); len(p.Errors) != 1 || p.Errors[0].Field != field {
				t.Errorf("%s: %+v", query, p.Errors)
			}
		}
	})
}
