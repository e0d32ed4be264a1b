package rest_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
)

// TestVerifiedSenders verifies a mailbox with the code of the mail, and uses it for an inbox.
func TestVerifiedSenders(t *testing.T) {
	t.Parallel()
	a := start(t, product.Options{Mail: true})
	const body = `{"email":"box@example.com"}`
	var claim struct {
		ID, Email, Status string
		CodeExpiresAt     time.Time `json:"code_expires_at"`
		VerifiedAt        time.Time `json:"verified_at"`
		CreatedAt         time.Time `json:"created_at"`
	}
	started := a.do(t, "POST", "/v1/verified-senders", body, "Idempotency-Key", "first").want(202)
	started.decode(&claim)
	mail := a.Mailbox.Next()
	code := regexp.MustCompile(`(?m)^[0-9]{6}$`).FindString(mail.Text)
	if code == "" || !strings.Contains(mail.Text, "An API key of the organization") || strings.Contains(mail.Text, "http") {
		t.Fatalf("mail:\n%s", mail.Text)
	}
	if claim.Status != "pending" || claim.CodeExpiresAt.Sub(claim.CreatedAt) != 15*time.Minute || strings.Contains(string(started.body), code) {
		t.Errorf("started: %s", started.body)
	}
	a.do(t, "POST", "/v1/verified-senders", body, "Idempotency-Key", "first").want(202) // a replay mails nothing
	path := "/v1/verified-senders/" + claim.ID
	wrong := "0" + code[1:]
	if wrong == code {
		wrong = "1" + code[1:]
	}
	for _, left := range []string{"4 attempts are left", "3 attempts are left"} { // one key, and each wrong code counts
		if refused := a.do(t, "POST", path+"/confirm", `{"code":"`+wrong+`"}`, "Idempotency-Key", "guess").want(422); !strings.Contains(string(refused.body), left) {
			t.Errorf("%s", refused.body)
		}
	}
	restricted := `{"allowed_senders":["box@example.com"]}`
	a.do(t, "POST", "/v1/inboxes", restricted).want(422)
	first := a.do(t, "POST", path+"/confirm", `{"code":"`+code+`"}`).want(200)
	first.decode(&claim)
	a.Clock.Advance(time.Minute)
	again := a.do(t, "POST", path+"/confirm", `{"code":"`+wrong+`"}`).want(200)
	if claim.Status != "verified" || claim.VerifiedAt.IsZero() || string(first.body) != string(again.body) || strings.Contains(string(first.body), "code_expires_at") {
		t.Errorf("confirmed: %s\nagain: %s", first.body, again.body)
	}
	a.do(t, "POST", "/v1/inboxes", restricted).want(201)
	a.do(t, "POST", "/v1/verified-senders", body).want(202)
	a.do(t, "DELETE", path, "").want(204)
	a.do(t, "DELETE", path, "").want(404)
	a.do(t, "POST", "/v1/inboxes", restricted).want(422)
	a.Mailbox.Empty()
}

// TestVerifiedSendersNeedAMailServer checks the refusal of a server that cannot mail codes.
func TestVerifiedSendersNeedAMailServer(t *testing.T) {
	t.Parallel()
	a := start(t, product.Options{})
	got := a.do(t, "POST", "/v1/verified-senders", `{"email":"box@example.com"}`).want(503)
	if !strings.Contains(string(got.body), string(core.CodeUpstreamUnavailable)) || !strings.Contains(string(got.body), "MAILHELM_SYSTEM_SMTP") {
		t.Errorf("%s", got.body)
	}
	machine := a.as(a.Token(t, a.BaseURL))
	for _, call := range [][3]string{
		{"GET", "/v1/verified-senders", ""},
		{"POST", "/v1/verified-senders", `{"email":"box@example.com"}`},
		{"POST", "/v1/verified-senders/" + core.NewID() + "/confirm", `{"code":"123456"}`},
		{"DELETE", "/v1/verified-senders/" + core.NewID(), ""},
	} {
		if got := machine.do(t, call[0], call[1], call[2]).want(422); !strings.Contains(string(got.body), `"authorization"`) {
			t.Errorf("%s %s: %s", call[0], call[1], got.body)
		}
	}
}
