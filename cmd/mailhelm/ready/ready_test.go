package ready_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/ready"
)

// run runs the command for a server at the admin address. It returns the exit status and
// the output.
func run(t *testing.T, address string, more ...string) (int, string, string) {
	t.Helper()
	var out, errs bytes.Buffer
	grammar := &struct {
		Ready ready.Command `cmd:""`
	}{}
	status := cli.Run(t.Context(), grammar, append([]string{"ready", "--admin-addr", address}, more...), cli.Surroundings{
		Stdout: &out, Stderr: &errs, Lookup: func(string) (string, bool) { return "", false },
	})
	return status, out.String(), errs.String()
}

// TestAnswers checks the exit status and the output for each answer of a server.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status     int
		body       string
		exit       int
		says, json string
	}{
		"ready":             {http.StatusOK, `{"status":"ready","checks":{"accepting":"ok","redis":"failed"}}`, cli.ExitOK, "ready\n", `"status": "ready"`},
		"a warning":         {http.StatusOK, `{"status":"ready","checks":{},"warnings":{"no_worker":"No\u001b process."}}`, cli.ExitOK, "ready\nwarning no_worker: No process.\n", `"no_worker": `},
		"stopping":          {http.StatusServiceUnavailable, `{"status":"not ready","checks":{"accepting":"failed","database":"ok"}}`, cli.ExitFailure, "these checks failed: accepting\n", `"accepting": "failed"`},
		"cause":             {http.StatusServiceUnavailable, `{"status":"not ready","checks":{"database":"failed"},"causes":{"database":"disk full"}}`, cli.ExitFailure, "database (disk full)", `"disk full"`},
		"control codes":     {http.StatusServiceUnavailable, `{"status":"not ready","checks":{"database":"failed"},"causes":{"database":"\u001b[2Jdisk\u202e full"}}`, cli.ExitFailure, "database ([2Jdisk full)", "disk"},
		"no checks":         {http.StatusServiceUnavailable, `{"status":"not ready"}`, cli.ExitFailure, "no failed check", `"not ready"`},
		"another program":   {http.StatusOK, `<html>`, cli.ExitFailure, "another program", ""},
		"another interface": {http.StatusNotFound, `{"error":"no such page"}`, cli.ExitFailure, "another program", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/readyz" {
					t.Errorf("the command requests %s", r.URL)
				}
				w.WriteHeader(tc.status)
				w.Write([]byte(tc.body)) //nolint:errcheck // the command reads it
			}))
			defer server.Close()
			address := strings.TrimPrefix(server.URL, "http://")
			if status, out, errs := run(t, address); status != tc.exit || !strings.Contains(out+errs, tc.says) {
				t.Errorf("status %d, want %d: %s%s", status, tc.exit, out, errs)
			}
			if status, out, errs := run(t, address, "--json"); status != tc.exit || !strings.Contains(out, tc.json) {
				t.Errorf("with --json: status %d, want %d: %s%s", status, tc.exit, out, errs)
			}
			if _, port, _ := strings.Cut(address, ":"); tc.exit == cli.ExitOK {
				if status, _, errs := run(t, ":"+port); status != cli.ExitOK {
					t.Errorf("an address without a host: %s", errs)
				}
			}
		})
	}
}

// TestNoServer checks the error if nothing listens at the address.
func TestNoServer(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(nil)
	address := strings.TrimPrefix(server.URL, "http://")
	server.Close()
	if status, _, errs := run(t, address); status != cli.ExitFailure || !strings.Contains(errs, "--admin-addr") {
		t.Errorf("status %d: %s", status, errs)
	}
}

// TestRedirect checks that the command does not follow a redirect, which could lead to
// another machine.
func TestRedirect(t *testing.T) {
	t.Parallel()
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte(`{"status":"ready"}`)) //nolint:errcheck // the command must not read it
	}))
	defer target.Close()
	server := httptest.NewServer(http.RedirectHandler(target.URL, http.StatusFound))
	defer server.Close()
	if status, out, errs := run(t, strings.TrimPrefix(server.URL, "http://")); status != cli.ExitFailure || !strings.Contains(errs, "another program") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
}
