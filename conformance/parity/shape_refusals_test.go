package parity

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// problemTable lists the members that every problem document has, except code and type,
// with the kinds of their values.
const problemTable = `
	title                                 text
	status                                int
	detail                                text
	next_step                             text
	request_id                            text`

// extraMembers lists the additional members of problem documents, with the kinds of their
// values, keyed by error code.
var extraMembers = map[string]string{
	"invalid_key":             "",
	"not_found":               "resource text",
	"validation_failed":       "errors[].field text\nerrors[].reason text",
	"plan_retention_exceeded": "retention_days int",
	"rate_limited":            "retry_after int",
	"upstream_unavailable":    "retry_after int",
}

// refused checks that a response is a problem document with this status and code. The
// document must have exactly the members in problemTable and, for this code, in
// extraMembers.
func (s shapeScene) refused(t *testing.T, what string, got answer, status int, code string) {
	t.Helper()
	if got.status != status || got.header.Get("Content-Type") != "application/problem+json" || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s: %d %v %s, want %d", what, got.status, got.header, got.body, status)
		return
	}
	named := "\ncode =" + code + "\ntype =" + s.DocsURL + "/api/errors/" + code + "\n"
	surveyOf(shapeOf(t, problemTable+named+extraMembers[code])).look(t, what, got.body)
}

// windowed are the routes that accept a time window, and asking are the routes that call
// the sending account.
var (
	windowed = []string{
		"/v1/messages", "/v1/recipients/{email}/messages",
		"/v1/reports/deliverability", "/v1/reports/engagement", "/v1/reports/template-performance",
	}
	asking = []string{"/v1/suppressions", "/v1/suppressions/{email}"}
)

// target returns a path with which a call of the route succeeds for the first organization.
func (r routeShape) target() string {
	path, _, _ := strings.Cut(r.prefix()+r.own[0], "?")
	return path
}

func (s shapeScene) refusals(t *testing.T, all []routeShape) {
	for _, r := range all {
		refused := func(credential, target string, status int, code string) {
			s.refused(t, target, s.get(t, credential, target), status, code)
		}
		refused("", r.target(), 401, "invalid_key")
		refused(s.own, r.target()+"?unknown=1", 422, "validation_failed")
		if strings.HasSuffix(r.table, paginationTable) {
			refused(s.own, r.target()+"?cursor=x", 422, "validation_failed")
			refused(s.own, r.target()+"?limit=201", 422, "validation_failed")
		}
		if slices.Contains(windowed, r.path) {
			refused(s.own, r.target()+"?from=2001-01-01T00:00:00Z", 403, "plan_retention_exceeded")
		}
		if strings.Contains(r.path, "{") && !slices.Contains(windowed, r.path) {
			nothing := r.prefix() + "none%40none.example" + strings.TrimPrefix(r.path[strings.Index(r.path, "}"):], "}")
			refused(s.own, nothing, 404, "not_found")
			refused(s.other, r.target(), 404, "not_found")
		}
	}
}

// failures makes the sending account fail in several ways. Calls that need the account must
// fail with a time to retry, and reads of the database must succeed.
func (s shapeScene) failures(t *testing.T, all []routeShape) {
	s.Clock.Advance(twoMinutes)
	for kind, status := range map[sending.FailureKind]int{sending.Refused: 503, sending.Throttled: 503, sending.TimedOut: 504} {
		s.Simulator.Faults().Set(simulator.Fault{Kind: kind})
		for _, r := range all {
			got := s.get(t, s.own, r.target())
			if !slices.Contains(asking, r.path) {
				if got.status != http.StatusOK {
					t.Errorf("%s while the account fails: %d %s", r.path, got.status, got.body)
				}
				continue
			}
			s.refused(t, r.path, got, status, "upstream_unavailable")
			s.retryAfter(t, r.path, got)
		}
		s.Simulator.Faults().Clear()
	}
}

func (s shapeScene) overTheLimit(t *testing.T, all []routeShape) {
	s.Clock.Freeze(s.Clock.Now())
	limit := 1
	if err := s.DB.Orgs().SetRateLimit(t.Context(), s.OrgID, &limit); err != nil {
		t.Fatal(err)
	}
	s.Clock.Advance(twoMinutes)
	s.get(t, s.own, "/v1/_scopes")
	for _, r := range all {
		got := s.get(t, s.own, r.target())
		s.refused(t, r.path, got, 429, "rate_limited")
		s.retryAfter(t, r.path, got)
		if reset := got.header.Get("X-RateLimit-Reset"); reset != got.header.Get("Retry-After") || reset != got.header.Get("RateLimit-Reset") {
			t.Errorf("%s: %v", r.path, got.header)
		}
	}
}

// retryAfter checks that the header Retry-After and the member retry_after have the same
// number of seconds.
func (s shapeScene) retryAfter(t *testing.T, what string, got answer) {
	t.Helper()
	seconds, err := strconv.Atoi(got.header.Get("Retry-After"))
	if err != nil || seconds < 1 || !strings.Contains(got.body, `"retry_after":`+strconv.Itoa(seconds)) {
		t.Errorf("%s: Retry-After %q: %s", what, got.header.Get("Retry-After"), got.body)
	}
}
