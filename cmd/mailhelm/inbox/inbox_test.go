package inbox_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/inbox"
)

// run runs a command for an API. It returns the exit status and the output.
func run(t *testing.T, api string, arguments ...string) (int, string, string) {
	t.Helper()
	var out, errs bytes.Buffer
	grammar := &struct {
		Inbox inbox.Command `cmd:""`
	}{}
	status := cli.Run(t.Context(), grammar, append([]string{"inbox"}, arguments...), cli.Surroundings{
		Stdout: &out, Stderr: &errs, Lookup: func(name string) (string, bool) {
			found, ok := map[string]string{"MAILHELM_API_KEY": "sk_live_x", "MAILHELM_BASE_URL": api}[name]
			return found, ok
		},
	})
	return status, out.String(), errs.String()
}

// server answers requests with the given answers in turn, the last of them again and again. It
// records the requests.
type server struct {
	*httptest.Server
	requests []string
}

type answer struct {
	status int
	body   string
	after  string
}

func serve(t *testing.T, answers ...answer) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get("Authorization") != "Bearer sk_live_x" {
			t.Errorf("%v, %v", r.Header, err)
		}
		a := answers[min(len(s.requests), len(answers)-1)]
		s.requests = append(s.requests, r.Method+" "+r.URL.String()+" "+string(body))
		if a.after != "" {
			w.Header().Set("Retry-After", a.after)
		}
		w.WriteHeader(a.status)
		w.Write([]byte(a.body)) //nolint:errcheck // the command reads it
	}))
	t.Cleanup(s.Close)
	return s
}

// TestCalls checks the request of each command, and that it prints the answer.
func TestCalls(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		arguments []string
		request   string
		body      string
		prints    string
	}{
		"new":    {[]string{"new"}, `POST /v1/inboxes {"ttl":600}`, `{"address":"a@inbox.test"}`, `"address": "a@inbox.test"`},
		"flags":  {[]string{"new", "--ttl", "60", "--label", "x", "--shared", "--allowed-sender", "@a.example", "--allowed-sender", "b@c.example", "--account-ref", "r"}, `POST /v1/inboxes {"account_ref":"r","allowed_senders":["@a.example","b@c.example"],"label":"x","ttl":60,"visibility":"org"}`, `{}`, `{}`},
		"shell":  {[]string{"new", "--print", "shell"}, `POST /v1/inboxes {"ttl":600}`, `{"id":"i","address":"a'b@inbox.test","pull_url":"http://p"}`, "INBOX_ID='i'\nINBOX_ADDRESS='a'\\''b@inbox.test'\nINBOX_PULL_URL='http://p'\n"},
		"list":   {[]string{"list", "--status", "active", "--shared", "--account-ref", "r"}, `GET /v1/inboxes?account_ref=r&limit=200&scope=org&status=active `, `{"data":[]}`, `"data": []`},
		"delete": {[]string{"delete", "a/b"}, `DELETE /v1/inboxes/a%2Fb `, ``, `"deleted": true`},
		"wait":   {[]string{"wait", "i", "--after", "3", "--sender", "@x.example", "--subject", "a b", "--contains", "c"}, `GET /v1/inboxes/i/messages?after=3&match_contains=c&match_sender=%40x.example&match_subject=a+b&wait=25 `, `{"messages":[{"message_id":"m"}],"cursor":"4"}`, `"message_id": "m"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, answer{status: 200, body: tc.body})
			if status, out, errs := run(t, s.URL, tc.arguments...); status != cli.ExitOK || !strings.Contains(out, tc.prints) {
				t.Errorf("status %d: %s%s", status, out, errs)
			}
			if len(s.requests) != 1 || s.requests[0] != tc.request {
				t.Errorf("requests %q, want %q", s.requests, tc.request)
			}
		})
	}
}

// TestWait waits with several polls, and without mail.
func TestWait(t *testing.T) {
	t.Parallel()
	s := serve(t, answer{status: 503, body: `{"detail":"Busy."}`, after: "1"}, answer{status: 200, body: `{"messages":[],"cursor":"7"}`}, answer{status: 200, body: `{"messages":[{}],"cursor":"8"}`})
	if status, out, errs := run(t, s.URL, "wait", "i"); status != cli.ExitOK || !strings.Contains(out, `"cursor": "8"`) {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	if len(s.requests) != 3 || !strings.Contains(s.requests[2], "after=7") {
		t.Errorf("requests %q", s.requests)
	}
	s = serve(t, answer{status: 200, body: `{"messages":[],"cursor":"0"}`})
	if status, out, errs := run(t, s.URL, "wait", "i", "--timeout", "0s"); status != cli.ExitNothing || !strings.Contains(out, `"messages": []`) || errs != "mailhelm: no mail came in 0s\n" {
		t.Errorf("without mail: status %d: %s%s", status, out, errs)
	}
	if len(s.requests) != 1 || !strings.Contains(s.requests[0], "wait=0") {
		t.Errorf("requests %q", s.requests)
	}
}

// TestWaitPrints checks the output of --print. Messages without a code or a link are passed over.
func TestWaitPrints(t *testing.T) {
	t.Parallel()
	news := answer{status: 200, body: `{"messages":[{"extracted":{"codes":[],"links":[{"url":"https://a.example/off","kind":"unsubscribe"},{"url":"https://a.example","kind":"other"}]}}],"cursor":"1"}`}
	code := answer{status: 200, body: `{"messages":[{"extracted":{"codes":["482913","1"],"links":[{"url":"https://a.example","kind":"other"},{"url":"https://a.example/c","kind":"confirm"}]}}],"cursor":"2"}`}
	none := answer{status: 200, body: `{"messages":[],"cursor":"2"}`}
	for name, tc := range map[string]struct {
		what    string
		answers []answer
		timeout string
		status  int
		out     string
		errs    string
	}{
		"code":             {"code", []answer{code}, "60s", cli.ExitOK, "482913\n", ""},
		"link":             {"link", []answer{code}, "60s", cli.ExitOK, "https://a.example/c\n", ""},
		"after a letter":   {"code", []answer{news, code}, "60s", cli.ExitOK, "482913\n", ""},
		"only a letter":    {"link", []answer{news, none}, "0s", cli.ExitNothing, "", "mailhelm: no mail with a link came in 0s; messages without one: 1\n"},
		"nothing":          {"code", []answer{none}, "0s", cli.ExitNothing, "", "mailhelm: no mail came in 0s\n"},
		"ends in between":  {"code", []answer{news, {status: 410, body: `{"detail":"The inbox expired."}`}}, "60s", cli.ExitFailure, "", "mailhelm: The inbox expired.\n"},
		"unknown argument": {"text", []answer{none}, "0s", cli.ExitUsage, "", "--print must be one of"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, tc.answers...)
			if status, out, errs := run(t, s.URL, "wait", "i", "--print", tc.what, "--timeout", tc.timeout); status != tc.status || out != tc.out || !strings.Contains(errs, tc.errs) {
				t.Errorf("status %d: %q %s", status, out, errs)
			}
		})
	}
}

// TestHelp checks that the help documents the exit status and the scopes.
func TestHelp(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		arguments []string
		says      []string
	}{
		{[]string{"--help"}, []string{"api.inboxes.manage", "3 no mail came in time", "MAILHELM_BASE_URL"}},
		{[]string{"wait", "--help"}, []string{"3 no mail came in time", "--print"}},
		{[]string{"new", "--help"}, []string{"pull_url", "Default: 600."}},
		{[]string{"list", "--help"}, []string{"30 days"}},
		{[]string{"delete", "--help"}, []string{"within a minute"}},
	} {
		status, out, errs := run(t, "http://127.0.0.1", tc.arguments...)
		for _, text := range tc.says {
			if flat := strings.Join(strings.Fields(out), " "); status != cli.ExitOK || !strings.Contains(flat, text) {
				t.Errorf("%q: status %d, no %q in:\n%s%s", tc.arguments, status, text, out, errs)
			}
		}
	}
}

// TestPrintsLinks checks that links in the output can be copied, and that it stays the same JSON.
func TestPrintsLinks(t *testing.T) {
	t.Parallel()
	body := `{"messages":[{"text":"\u003cb\u003e \\u0026 \\\u0026 \u00e9","extracted":{"links":[{"url":"https://a.example/?a=1\u0026b=2"}]}}],"cursor":"1"}`
	s := serve(t, answer{status: 200, body: body})
	status, out, errs := run(t, s.URL, "wait", "i")
	if status != cli.ExitOK || !strings.Contains(out, "https://a.example/?a=1&b=2") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	var want, got any
	if err := errors.Join(json.Unmarshal([]byte(body), &want), json.Unmarshal([]byte(out), &got)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v: %s", err, out)
	}
}

// TestBaseURL checks the explanation of an address that is not that of an API.
func TestBaseURL(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"localhost:8080", "http://localhost:8080/v1", "ftp://localhost", "http://"} {
		if status, out, errs := run(t, address, "list"); status != cli.ExitFailure || out != "" || !strings.Contains(errs, "without a path, such as http://localhost:8080") {
			t.Errorf("%s: status %d: %q %q", address, status, out, errs)
		}
	}
	s := serve(t, answer{})
	s.Close()
	if status, _, errs := run(t, s.URL, "wait", "i", "--subject", "private"); status != cli.ExitFailure || !strings.Contains(errs, "the API at "+s.URL+" does not answer: ") || strings.Contains(errs, "private") {
		t.Errorf("status %d: %q", status, errs)
	}
}

// TestRefusals checks the exit status and the text of failures.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer answer
		says   string
	}{
		"refused":         {answer{status: 410, body: `{"detail":"The inbox expired.","next_step":"Create a ` + "`new`" + ` inbox."}`}, "mailhelm: The inbox expired. Create a new inbox.\n"},
		"too late":        {answer{status: 429, body: `{"detail":"Wait."}`, after: "3600"}, "mailhelm: Wait. Retry-After is 1h0m0s.\n"},
		"wrong value":     {answer{status: 422, body: `{"code":"validation_failed","detail":"match_subject is long.","next_step":"Read openapi.json.","errors":[{"field":"match_subject","reason":"is long"}]}`}, "mailhelm: --subject is long.\n"},
		"no inbox":        {answer{status: 404, body: `{"code":"not_found","detail":"No such inbox.","next_step":"Check the path.","resource":"inbox"}`}, "mailhelm: No such inbox. Run 'mailhelm inbox list' for the ids of inboxes.\n"},
		"no route":        {answer{status: 404, body: `{"code":"not_found","detail":"No such path.","next_step":"Read openapi.json."}`}, "mailhelm: No such path. Check --base-url. (--base-url is set by"},
		"wrong key":       {answer{status: 401, body: `{"code":"invalid_key","detail":"No credential."}`}, "Check MAILHELM_API_KEY and --base-url. (--base-url is set by"},
		"control codes":   {answer{status: 404, body: `{"detail":"\u001b[2Jgone\u202e"}`}, "mailhelm: [2Jgone\n"},
		"redirect":        {answer{status: 302, body: ``}, "302 Found: this is not the API; check --base-url"},
		"another program": {answer{status: 200, body: `<html>`}, "check --base-url"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, tc.answer)
			if status, out, errs := run(t, s.URL, "wait", "i"); status != cli.ExitFailure || out != "" || !strings.Contains(errs, tc.says) {
				t.Errorf("status %d: %q %q", status, out, errs)
			}
		})
	}
	var errs bytes.Buffer
	grammar := &struct {
		Inbox inbox.Command `cmd:""`
	}{}
	around := cli.Surroundings{Stdout: io.Discard, Stderr: &errs, Lookup: func(string) (string, bool) { return "", false }}
	if status := cli.Run(t.Context(), grammar, []string{"inbox", "list"}, around); status != cli.ExitFailure || !strings.Contains(errs.String(), "MAILHELM_API_KEY") {
		t.Errorf("without a key: %d %s", status, errs.String())
	}
}
