package names_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/workflowfiles/names"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// answers has the data of each route, page by page.
var answers = map[string][]string{
	"/v1/attributes": {
		`{"name": "plan", "type": "enum", "enum_values": ["free", "pro"]}`,
		`{"name": "renewal", "type": "datetime", "description": "When the contract ends."}`,
	},
	"/v1/topics":              {`{"name": "news", "display_name": "News", "default_subscription_status": "OPT_IN"}, {"name": "offers", "default_subscription_status": "OPT_OUT"}`},
	"/v1/lists":               {`{"key": "vip", "name": "VIP", "member_count": 3, "status": "active"}`},
	"/v1/segments":            {`{"key": "new", "status": "active", "source": "has attr.plan"}, {"key": "old", "status": "archived"}`},
	"/v1/templates":           {`{"slug": "welcome"}`, `{"slug": "tips"}`, `{"slug": "bye"}`},
	"/v1/activity-properties": {`{"activity_name": "purchase", "property": "total", "type": "number"}`},
	"/v1/activities":          {`{"name": "signup"}, {"name": "purchase"}`, `{"name": "not read"}`},
}

// api returns the address of a server with the answers, and the number of its requests. The
// credential "key" may read them.
func api(t *testing.T) (string, *atomic.Int64) {
	t.Helper()
	var requests atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.Header.Get("Authorization") != "Bearer key" {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"title": "Unauthorized", "detail": "The key is not valid."}`))
			return
		}
		pages := answers[r.URL.Path]
		at := len(r.URL.Query().Get("cursor"))
		if at >= len(pages) {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		more := at+1 < len(pages)
		pagination := map[string]any{"has_more": more, "next_cursor": nil}
		if more {
			pagination["next_cursor"] = strings.Repeat("x", at+1)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": json.RawMessage("[" + pages[at] + "]"), "pagination": pagination})
	}))
	t.Cleanup(s.Close)
	return s.URL, &requests
}

func TestNames(t *testing.T) {
	t.Parallel()
	server, requests := api(t)
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	client, err := names.New(server+"/", "key", func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.Names(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := language.Schema{
		Schema: predicate.Schema{
			Attributes: map[string]predicate.AttributeType{"plan": {Type: predicate.Enum, EnumValues: []string{"free", "pro"}}, "renewal": {Type: predicate.Datetime}},
			Properties: map[predicate.ActivityProperty]predicate.Type{{Activity: "purchase", Property: "total"}: predicate.Number},
			Topics:     map[string]bool{"news": true, "offers": false}, Lists: map[string]string{"vip": "vip"}, Segments: map[string]string{"new": "new"},
			Archived: map[predicate.Archived]bool{{Kind: predicate.SegmentSet, Key: "old"}: true},
		},
		Templates: map[string]bool{"welcome": true, "tips": true, "bye": true},
	}
	if diff := cmp.Diff(want, got.Schema()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"purchase", "signup"}, got.Activities); diff != "" {
		t.Error(diff)
	}
	first := requests.Load()
	for _, step := range []struct {
		wait  time.Duration
		reads bool
	}{{59 * time.Second, false}, {time.Second, true}} {
		now = now.Add(step.wait)
		if _, err := client.Names(t.Context()); err != nil {
			t.Fatal(err)
		}
		if (requests.Load() > first) != step.reads {
			t.Errorf("after %s: %d requests, first %d", step.wait, requests.Load(), first)
		}
	}
}

func TestNamesFail(t *testing.T) {
	t.Parallel()
	server, _ := api(t)
	other := httptest.NewServer(http.RedirectHandler(server, http.StatusFound))
	t.Cleanup(other.Close)
	html := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }))
	t.Cleanup(html.Close)
	for _, row := range []struct{ server, key, want string }{
		{server, "wrong", "GET /v1/attributes is answered with status 401: The key is not valid."},
		{other.URL, "key", "status 302"},
		{html.URL, "key", "other JSON"},
		{"http://127.0.0.1:1", "key", "connect"},
	} {
		client, err := names.New(row.server, row.key, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, err = client.Names(ctx)
		cancel()
		if err == nil || !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), row.key+"\"") {
			t.Errorf("%s fails with %v, want %q", row.server, err, row.want)
		}
	}
	for _, address := range []string{"", "localhost:8080", "ftp://example.com", "http://"} {
		if _, err := names.New(address, "key", time.Now); err == nil || !strings.Contains(err.Error(), "https://api.example.com") {
			t.Errorf("the address %q gives %v", address, err)
		}
	}
}
