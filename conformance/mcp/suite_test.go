package mcp_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/oauth/clients"
	"github.com/mailhelm/mailhelm/conformance/standin"
)

// TestOfficialSuite runs the official MCP conformance suite against the endpoint with the
// suite's own tools, at two revisions of MCP. Each entry of a file in testdata/suite allows
// one scenario, or one check of it, to fail and gives the reason. The test fails if such a
// scenario passes.
func TestOfficialSuite(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{modern, "2025-11-25"} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			baseline := "testdata/suite/" + revision + ".yaml"
			excused := scenariosIn(t, baseline)
			verdicts, err := clients.ServerSuite(t, clients.ServerSuiteTask{
				URL: bearerProxy(t) + "/mcp", Requirements: revision, Baseline: baseline,
			})
			if err != nil {
				t.Error(err)
			}
			for _, scenario := range clients.ScoredScenarios(t, revision) {
				_, someExcused := excused[scenario]
				if someExcused == slices.Contains(must[revision], scenario) {
					t.Errorf("%s must either pass or have a reason not to", scenario)
				}
			}
			for _, scenario := range must[revision] {
				if !verdicts[scenario].Passed() {
					t.Errorf("%s must pass: %+v", scenario, verdicts[scenario])
				}
			}
			for scenario, checks := range excused {
				if got := verdicts[scenario].Objections(); len(got) == 0 || checks != nil && !sameChecks(got, checks) {
					t.Errorf("%s is excused for %v and failed for %v", scenario, checks, got)
				}
			}
		})
	}
}

func sameChecks(a, b []string) bool {
	return slices.Equal(slices.Compact(slices.Sorted(slices.Values(a))), slices.Sorted(slices.Values(b)))
}

// TestTheSuiteObjectsToWarningsAndStaleEntries checks that the suite fails on a warning
// that the baseline file does not expect, and on an expected failure that passes. Otherwise
// TestOfficialSuite could pass in spite of such a warning or such an outdated baseline.
func TestTheSuiteObjectsToWarningsAndStaleEntries(t *testing.T) {
	t.Parallel()
	const revision, warning = "2025-11-25", "server-sse-multiple-streams:server-sse-multiple-streams-session"
	kept, err := os.ReadFile("testdata/suite/" + revision + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(kept), "- "+warning) != 1 {
		t.Fatalf("the baseline has no %s", warning)
	}
	baseline := filepath.Join(t.TempDir(), "baseline.yaml")
	if err := os.WriteFile(baseline, []byte(strings.Replace(string(kept), warning, "ping", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = clients.ServerSuite(t, clients.ServerSuiteTask{URL: bearerProxy(t) + "/mcp", Requirements: revision, Baseline: baseline})
	if err == nil {
		t.Fatal("the suite has no objection")
	}
	_, report, _ := strings.Cut(err.Error(), "Stale baseline entries")
	stale, unexpected, _ := strings.Cut(report, "Unexpected failures")
	if !strings.Contains(stale, "ping") || !strings.Contains(unexpected, "server-sse-multiple-streams") {
		t.Error(err)
	}
}

// TestRequestsAtTheSameTime checks that concurrent requests each get their own progress and
// result. It uses different JSON-RPC ids, and pairs of requests with the same id. The
// official suite does not check this at revision 2025-11-25, because the endpoint has no
// session ids.
func TestRequestsAtTheSameTime(t *testing.T) {
	t.Parallel()
	address, client := startSuiteTools(t, "http://page.test"), &http.Client{Timeout: time.Minute}
	for _, revision := range revisions {
		for i := range 12 {
			t.Run(fmt.Sprintf("%s/%d", revision, i), func(t *testing.T) {
				t.Parallel()
				id := i / 2
				w := &wire{t: t, url: address, revision: revision, token: standin.Token, http: client, replace: strings.NewReplacer(), calls: id}
				follow := call("test_tool_with_progress", nil)
				follow.params["_meta"] = map[string]any{"progressToken": fmt.Sprint("of ", i)}
				w.send(follow)
				answer := string(w.transcript.Files[1].Data)
				if strings.Count(answer, fmt.Sprintf(`"progressToken":"of %d"`, i)) != 3 || strings.Count(answer, `"progressToken"`) != 3 {
					t.Errorf("not the progress of this call: %s", answer)
				}
				if !strings.Contains(answer, fmt.Sprintf(`"id":%d,"result"`, id+1)) {
					t.Errorf("not the result of this call: %s", answer)
				}
			})
		}
	}
}

// must has, by revision, the scenarios that have to pass. The baseline file, which lists
// the expected failures, must not contain them. Every scenario that the suite scores is
// either in must or in the baseline file.
var must = map[string][]string{
	modern: {
		"server-stateless", "sep-2164-resource-not-found", "tools-list", "tools-call-simple-text", "tools-call-image", "tools-call-audio", "tools-call-embedded-resource",
		"tools-call-mixed-content", "tools-call-error", "tools-call-with-progress", "server-sse-multiple-streams", "dns-rebinding-protection",
		"input-required-result-basic-elicitation", "input-required-result-basic-sampling", "input-required-result-basic-list-roots",
		"input-required-result-request-state", "input-required-result-multiple-input-requests", "input-required-result-multi-round",
		"input-required-result-missing-input-response", "input-required-result-result-type", "input-required-result-unsupported-methods",
		"input-required-result-tampered-state", "input-required-result-capability-check", "input-required-result-ignore-extra-params",
		"input-required-result-validate-input",
	},
	"2025-11-25": {
		"server-initialize", "ping", "tools-list", "tools-call-simple-text", "tools-call-image", "tools-call-audio", "tools-call-embedded-resource",
		"tools-call-mixed-content", "tools-call-error", "tools-call-with-progress", "dns-rebinding-protection",
	},
}

// TestProgressIsAStreamThatEndsWithTheResult checks that progress is sent as events before
// the result, in every revision of the protocol. A client that accepts no event stream gets
// only the result.
func TestProgressIsAStreamThatEndsWithTheResult(t *testing.T) {
	t.Parallel()
	w := &wire{t: t, url: startSuiteTools(t, "http://page.test"), token: standin.Token, http: &http.Client{Timeout: 10 * time.Second}, replace: strings.NewReplacer()}
	for _, revision := range revisions {
		w.revision, w.transcript.Files = revision, nil
		follow := call("test_tool_with_progress", nil)
		follow.params["_meta"] = map[string]any{"progressToken": "p"}
		w.send(follow)
		answer := string(w.transcript.Files[1].Data)
		if got := strings.Count(answer, "event: message\ndata: {"); got != 4 || !strings.Contains(answer, "Content-Type: text/event-stream") {
			t.Errorf("%s: %d events: %s", revision, got, answer)
		}
		result, last := strings.Index(answer, `"result"`), strings.LastIndex(answer, `"notifications/progress"`)
		if result < last || last < 0 {
			t.Errorf("%s: the result is not the last event: %s", revision, answer)
		}
		follow.header = map[string]string{"Accept": "application/json"}
		w.send(follow)
		if answer := string(w.transcript.Files[3].Data); strings.Contains(answer, "event:") {
			t.Errorf("%s: events for a client that takes none: %s", revision, answer)
		}
	}
}

// bearerProxy starts the suite's tools behind a proxy that adds the access token, which the
// suite cannot send. It keeps the Host header and returns the proxy's address.
func bearerProxy(t *testing.T) string {
	t.Helper()
	proxy := httptest.NewUnstartedServer(nil)
	origin := strings.Replace("http://"+proxy.Listener.Addr().String(), "127.0.0.1", "localhost", 1)
	target, err := url.Parse(startSuiteTools(t, origin))
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	proxy.Config.Handler = &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
			r.Out.Header.Set("Authorization", "Bearer "+standin.Token)
		},
	}
	proxy.Start()
	t.Cleanup(proxy.Close)
	return origin
}

// scenariosIn reads a baseline file, which lists test scenarios that may fail. It returns
// the checks that may fail, with the scenario as key. nil means that all checks of the
// scenario may fail. A line without a reason fails the test.
func scenariosIn(t *testing.T, baseline string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(baseline)
	if err != nil {
		t.Fatal(err)
	}
	scenarios := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		entry, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !ok {
			continue
		}
		entry, reason, _ := strings.Cut(entry, "#")
		if strings.TrimSpace(reason) == "" {
			t.Errorf("%s: %s has no reason", baseline, entry)
		}
		scenario, check, some := strings.Cut(strings.TrimSpace(entry), ":")
		checks := scenarios[scenario]
		if some {
			checks = append(checks, check)
		}
		scenarios[scenario] = checks
	}
	return scenarios
}
