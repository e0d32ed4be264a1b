package rest_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
)

func TestRequestID(t *testing.T) {
	t.Parallel()
	s, _ := newProbeStack(t)
	for own, echoed := range map[string]bool{
		"a":                      true,
		"AZaz09._:-":             true,
		strings.Repeat("x", 128): true,
		strings.Repeat("x", 129): false,
		"":                       false,
		"a b":                    false,
		"a\r\nSet-Cookie: x":     false,
		"ä":                      false,
		"{}":                     false,
	} {
		r := s.request(http.MethodGet, "/v1/probes/a", "")
		r.Header["X-Request-Id"] = []string{own}
		got := s.serve(t, r).want(200).Header().Get("X-Request-Id")
		if (got == own) != echoed || !echoed && !core.IsID(got) {
			t.Errorf("sent %q, answered %q", own, got)
		}
	}
	r := s.request(http.MethodGet, "/v1/probes/a", "")
	r.Header["X-Request-Id"] = []string{"one", "two"}
	if got := s.serve(t, r).Header().Get("X-Request-Id"); !core.IsID(got) {
		t.Errorf("two ids sent, answered %q", got)
	}
}

func TestRateHeaders(t *testing.T) {
	t.Parallel()
	s, _ := newProbeStack(t)
	if h := s.do(t, "GET", "/v1/_scopes", "").want(200).Header(); h.Get("RateLimit-Limit") != "" || h.Get("X-RateLimit-Limit") != "" {
		t.Errorf("rate headers without a limit: %v", h)
	}
	s.clock.Advance(time.Minute) // the principal is read again
	s.limit(2)
	for _, remaining := range []string{"1", "0"} {
		checkRate(t, s.do(t, "GET", "/v1/_scopes", "").want(200).Header(), "2", remaining, "60")
		s.clock.Advance(15 * time.Second)
	}
	a := s.do(t, "GET", "/v1/contacts?limit=0", "")
	p := a.wantRefusal(429, core.CodeRateLimited)
	checkRate(t, a.Header(), "2", "0", "45")
	if a.Header().Get("Retry-After") != "30" || p.RetryAfter != 30 {
		t.Errorf("Retry-After = %q, retry_after = %d, want 30", a.Header().Get("Retry-After"), p.RetryAfter)
	}
	for _, path := range []string{"/v1/contacts", "/v1/nowhere"} {
		s.do(t, "GET", path, "").wantRefusal(429, core.CodeRateLimited)
	}
	if log := s.log.String(); strings.Count(log, "rate_limited") != 1 || !strings.Contains(log, s.org.ID) {
		t.Errorf("the first of three calls above the limit is logged, with its organization:\n%s", log)
	}
	s.clock.Advance(30 * time.Second)
	checkRate(t, s.do(t, "GET", "/v1/contacts?limit=0", "").want(422).Header(), "2", "0", "60")
	if h := s.do(t, "GET", "/v1/contacts", "", "Authorization", "").want(401).Header(); h.Get("RateLimit-Limit") != "" {
		t.Errorf("rate headers without a credential: %v", h)
	}
}

func checkRate(t *testing.T, h http.Header, limit, remaining, reset string) {
	t.Helper()
	got := map[string]string{}
	for name := range h {
		if strings.Contains(name, "Ratelimit") {
			got[name] = h.Get(name)
		}
	}
	want := map[string]string{
		"Ratelimit-Limit": limit, "Ratelimit-Remaining": remaining, "Ratelimit-Reset": reset, "Ratelimit-Policy": limit + ";w=60",
		"X-Ratelimit-Limit": limit, "X-Ratelimit-Remaining": remaining, "X-Ratelimit-Reset": reset,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rate headers (-want +got):\n%s", diff)
	}
}

func TestPagesAreLinked(t *testing.T) {
	t.Parallel()
	s, _ := newProbeStack(t)
	for i := range 5 {
		s.do(t, "POST", "/v1/contacts", `{"email":"c`+strconv.Itoa(i)+`@example.com","topic_preferences":{"news":"OPT_IN"}}`).want(201)
		s.clock.Advance(time.Second)
	}
	target := "/v1/contacts?topic=news&limit=2&subscription_status=OPT_IN"
	var seen []string
	for target != "" {
		a := s.do(t, "GET", target, "").want(200)
		var page core.Envelope[contacts.Contact]
		a.decode(&page)
		for _, c := range page.Data {
			seen = append(seen, c.Email)
		}
		target = nextOf(t, a.Header().Get("Link"))
		if (target != "") != page.Pagination.HasMore {
			t.Errorf("Link %q, has_more %v", target, page.Pagination.HasMore)
		}
		if len(seen) > 5 {
			break
		}
	}
	want := []string{"c4@example.com", "c3@example.com", "c2@example.com", "c1@example.com", "c0@example.com"}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("contacts (-want +got):\n%s", diff)
	}
}

// nextOf returns the path and query of the URL in a Link header, or "" without the header.
// It fails the test unless the URL is that of /v1/contacts on this host and has the filters
// and the limit with which the test requests the first page.
func nextOf(t *testing.T, link string) string {
	t.Helper()
	if link == "" {
		return ""
	}
	address, found := strings.CutSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
	u, err := url.Parse(address)
	if !found || err != nil || !strings.HasPrefix(address, baseURL+"/v1/contacts?") {
		t.Fatalf("Link = %q", link)
	}
	if q := u.Query(); q.Get("topic") != "news" || q.Get("limit") != "2" || q.Get("subscription_status") != "OPT_IN" || q.Get("cursor") == "" {
		t.Errorf("Link lost a filter: %q", link)
	}
	return u.RequestURI()
}

func TestCaching(t *testing.T) {
	t.Parallel()
	s, _ := newProbeStack(t)
	for target, want := range map[string]string{
		"/v1/account":       "max-age=60",
		"/v1/contacts":      "no-store",
		"/v1/contacts/none": "no-store",
		"/v1/_health":       "no-store",
		"/v1/openapi.json":  "public, max-age=300",
	} {
		h := s.do(t, "GET", target, "").Header()
		if got := h.Get("Cache-Control"); got != want {
			t.Errorf("%s: Cache-Control = %q, want %q", target, got, want)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: the content type may be guessed", target)
		}
	}
	if got := s.do(t, "GET", "/v1/account", "").Header().Get("Vary"); got != "Authorization" {
		t.Errorf("Vary = %q", got)
	}
}

// TestNoResponseHasCORSHeaders checks that no response has a CORS header, because the API
// is for servers only.
func TestNoResponseHasCORSHeaders(t *testing.T) {
	t.Parallel()
	s, _ := newProbeStack(t)
	for _, r := range []*http.Request{
		s.request("OPTIONS", "/v1/contacts", "", "Origin", "https://evil.test", "Access-Control-Request-Method", "GET"),
		s.request("GET", "/v1/contacts", "", "Origin", "https://evil.test"),
		s.request("GET", "/v1/openapi.json", "", "Origin", "https://evil.test"),
	} {
		for name := range s.serve(t, r).Header() {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s %s: %s", r.Method, r.URL, name)
			}
		}
	}
	s.do(t, "OPTIONS", "/v1/contacts", "").wantRefusal(405, core.CodeMethodNotAllowed)
}

func TestPublicDocuments(t *testing.T) {
	t.Parallel()
	s, _ := newProbeStack(t)
	var health struct{ Status, Commit, Time string }
	s.do(t, "GET", "/v1/_health", "", "Authorization", "").want(200).decode(&health)
	if health.Status != "ok" || health.Commit != "abc1234" || health.Time != "2026-03-01T12:00:00Z" {
		t.Errorf("health = %+v", health)
	}
	var resource map[string]any
	s.do(t, "GET", "/.well-known/oauth-protected-resource", "", "Authorization", "").want(200).decode(&resource)
	if resource["resource"] != baseURL || !cmp.Equal(resource["authorization_servers"], []any{authURL}) {
		t.Errorf("protected resource = %v", resource)
	}
	first := s.do(t, "GET", "/v1/openapi.json", "", "Authorization", "").want(200)
	if !json.Valid(first.Body.Bytes()) || first.Body.String() != s.do(t, "GET", "/openapi.json", "").want(200).Body.String() {
		t.Error("the two paths of the OpenAPI document differ, or it is no JSON")
	}
	etag := first.Header().Get("ETag")
	for sent, status := range map[string]int{etag: 304, "W/" + etag: 304, `"x", ` + etag: 304, "*": 304, `"x"`: 200} {
		s.do(t, "GET", "/v1/openapi.json", "", "If-None-Match", sent).want(status)
	}
}
