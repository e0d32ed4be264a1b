package main

import (
	"encoding/json"
	"net/http"
	"net/smtp"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// address matches an email address, plain or percent-encoded.
var address = regexp.MustCompile(`[A-Za-z0-9._+-]+(@|%40)[A-Za-z0-9-]+\.[a-z]+`)

// wrongSecret is a client secret that is sent and refused.
const wrongSecret = "ocs_WRONGWRONGWRONG"

// callWithAddresses sends calls to the demo d. The calls contain secrets, and email
// addresses with the word "canary". It returns the access token that some of the calls use.
// The log must contain no secret, token or address; see checkLog.
func callWithAddresses(t *testing.T, d demoOutput) string {
	t.Helper()
	token := tokenFrom(t, d, d["client_id"], d["client_secret"], d["mcp_url"])
	tokenRequest(t, d, d["client_id"], wrongSecret, d["mcp_url"])
	tokenRequest(t, d, d["client_id"], d["client_secret"], "https://nobody@canary.example.com")

	api, mcp := d["base_url"]+"/v1/contacts", d["mcp_url"]+"/mcp"
	for _, call := range []struct{ method, address, bearer, body string }{
		{"POST", api, d["api_key"], `{"email":"canary.one@example.com","external_id":"canary-two@example.org"}`},
		{"POST", api, d["api_key"], `{"email":"canary.one@example.com"}`},
		{"POST", api, d["api_key"], `{"email":"canary three@example"}`},
		{"POST", api, d["api_key"], `{"email":"canary.four@example.com","unknown@example.com":1}`},
		{"GET", api + "/canary.one%40example.com?x=canary.five@example.com", d["api_key"], ""},
		{"GET", api + "/canary.six@example.com", d["test_api_key"], ""},
		{"DELETE", api + "/canary.one@example.com", d["test_api_key"], ""},
		{"GET", api, "sk_live_CANARYSEVEN", ""},
		{"GET", api + "/canary.one@example.com", token, ""},
		{"POST", mcp, token, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"contacts_upsert","arguments":{"email":"canary.eight@example.com"}}}`},
		{"POST", mcp, token, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"contacts_lookup","arguments":{"email":"canary.nine@example"}}}`},
		{"POST", mcp, token, `{"jsonrpc":"2.0","id":3,"method":"canary.ten@example.com"}`},
		{"POST", mcp, d["api_key"], `{"jsonrpc":"2.0","id":4,"method":"tools/list"}`},
		{"GET", d["fetch_url"] + "/canary.eleven@example.com", d["api_key"], ""},
		{"GET", d["app_url"] + "/docs/canary.twelve@example.com", "", ""},
	} {
		request(t, call.method, call.address, call.bearer, call.body)
	}
	if err := smtp.SendMail(d["smtp_addr"], nil, "canary.from@example.com", []string{"canary.to@example.com"}, []byte("x")); err == nil {
		t.Error("mail to an inbox that does not exist was accepted")
	}
	return token
}

// checkLog checks that the log of a demo at the level debug has JSON lines with calls, but
// no secret, token or email address.
func checkLog(t *testing.T, log string, d demoOutput, token string) {
	t.Helper()
	if n := strings.Count(log, `"msg":"call"`); n < 8 {
		t.Errorf("only %d calls are logged:\n%s", n, log)
	}
	if found := address.FindAllString(log, 5); found != nil {
		t.Errorf("the log holds addresses: %v", found)
	}
	if i := strings.Index(strings.ToLower(log), "canary"); i >= 0 {
		t.Errorf("the log holds what callers sent: %.200s", log[i:])
	}
	for _, name := range []string{"client_secret", "test_client_secret", "api_key", "test_api_key", "user_password"} {
		if strings.Contains(log, d[name]) {
			t.Errorf("the log holds %s", name)
		}
	}
	if strings.Contains(log, token) || strings.Contains(log, wrongSecret) || strings.Contains(log, "eyJ") {
		t.Error("the log holds a token or a secret that was tried")
	}
	for line := range strings.Lines(log) {
		if !json.Valid([]byte(line)) {
			t.Errorf("a line of the log is not JSON: %s", line)
		}
	}
}

func tokenFrom(t *testing.T, d demoOutput, id, secret, resource string) string {
	t.Helper()
	body := tokenRequest(t, d, id, secret, resource)
	var issued struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(body), &issued); err != nil || issued.AccessToken == "" {
		t.Fatalf("token: %v: %s", err, body)
	}
	return issued.AccessToken
}

func tokenRequest(t *testing.T, d demoOutput, id, secret, resource string) string {
	t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "resource": {resource}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d["auth_url"]+"/oauth/token", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(id, secret)
	a, err := ask(r)
	if err != nil {
		t.Fatal(err)
	}
	return a.body
}
