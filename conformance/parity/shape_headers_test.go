package parity

import (
	"strings"
	"testing"
)

// headers checks the headers of the responses to GET requests. Only the response of
// /v1/account may be cached. Only the list of undeliverable addresses has the header with
// the version of its rules. A page of a list links to the next page.
func (s shapeScene) headers(t *testing.T, all []routeShape) {
	var rules struct{ Version string }
	s.decode(t, s.get(t, s.own, "/v1/undeliverable/rules"), &rules)
	for _, r := range all {
		got := s.getWith(t, s.own, r.target(), map[string]string{"X-Request-Id": "ours-1"})
		want := map[string]string{
			"Content-Type": "application/json", "Cache-Control": "no-store", "X-Request-Id": "ours-1",
			"X-Service-Rules-Version": "", "RateLimit-Limit": "", "X-RateLimit-Limit": "", "Retry-After": "",
		}
		switch r.path {
		case "/v1/account":
			want["Cache-Control"] = "max-age=60"
		case "/v1/undeliverable":
			want["X-Service-Rules-Version"] = rules.Version
		}
		for name, value := range want {
			if got.header.Get(name) != value {
				t.Errorf("%s: %s = %q, want %q", r.path, name, got.header.Get(name), value)
			}
		}
		if strings.HasSuffix(r.table, paginationTable) {
			s.follow(t, r)
		}
	}
}

// follow reads two pages of one item each, and checks that the Link header of the first
// page has the URL of the second. It checks nothing if the first page is the only one.
func (s shapeScene) follow(t *testing.T, r routeShape) {
	t.Helper()
	var page struct {
		Data       []any
		Pagination struct {
			HasMore    bool    `json:"has_more"`
			NextCursor *string `json:"next_cursor"`
		}
	}
	got := s.get(t, s.own, r.target()+"?limit=1")
	s.decode(t, got, &page)
	link := got.header.Get("Link")
	if !page.Pagination.HasMore && page.Pagination.NextCursor == nil && link == "" {
		return
	}
	address, ok := strings.CutSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
	if !ok || !page.Pagination.HasMore || page.Pagination.NextCursor == nil || !strings.Contains(address, "cursor="+*page.Pagination.NextCursor) {
		t.Errorf("%s: Link %q, %s", r.path, link, got.body)
		return
	}
	first := got.body
	next := s.get(t, s.own, address)
	if s.decode(t, next, &page); len(page.Data) != 1 || next.body == first {
		t.Errorf("%s: the next page is %s", r.path, next.body)
	}
}
