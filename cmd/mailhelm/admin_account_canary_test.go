package main

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAdminAccountSecretLeavesNoTrace checks that the commands never reveal the secret of a
// sending account. It connects an account whose provider fails in several ways. Neither the
// output nor the files in the data folder may contain the secret.
func TestAdminAccountSecretLeavesNoTrace(t *testing.T) {
	t.Parallel()
	s := withMasterKey(t).inProcesses()
	const secret = "canarySecretKeyOfAmazon+/0123456789abcdef"
	var printed strings.Builder
	run := func(stdin string, args ...string) {
		stdout, stderr, _ := s.try(stdin, args...) // most of them fail
		printed.WriteString(stdout + stderr)
	}
	connect := func(endpoint string, more ...string) {
		run(secret+"\n", append([]string{
			"account", "connect", "acme", "--provider", "ses", "--region", "eu-central-1",
			"--access-key-id", accessKey, "--secret-stdin", "--endpoint", endpoint,
		}, more...)...)
	}
	connect("http://example.com")
	connect("https://example.com", "--role-arn", "admin")
	connect("https://example.com", "--topic-arn", secret)
	connect("https://example.com", "--nonsense")
	for what, answer := range map[string]http.HandlerFunc{
		"refuses the credentials": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Amzn-Errortype", "UnrecognizedClientException")
			w.WriteHeader(http.StatusForbidden)
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, `{"message":%q}`, fmt.Sprint(r.Header, string(body)))
		},
		"is a page": func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "<html>%v</html>", r.Header) },
		"hangs up":  func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		server := httptest.NewServer(answer)
		connect(server.URL)
		before := printed.Len()
		run("", "account", "verify", "acme")
		run("", "account", "verify", "acme", "--json")
		if printed.Len() == before {
			t.Errorf("nothing is said of a provider that %s", what)
		}
		server.Close()
		run("", "account", "show", "acme", "--json")
	}
	run("", "audit", "list", "acme", "--json")
	for _, hidden := range []string{secret, strings.ReplaceAll(secret, "/", `\/`), base64.StdEncoding.EncodeToString([]byte(secret))} {
		if strings.Contains(printed.String(), hidden) {
			t.Errorf("the commands print %s:\n%s", hidden, printed.String())
		}
	}
	if !strings.Contains(printed.String(), "account.connected") {
		t.Errorf("nothing was connected:\n%s", printed.String())
	}
	wantNowhereOnDisk(t, s, secret)
}
