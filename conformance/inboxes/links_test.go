package inboxes

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// ask sends a request, and returns the answer without what differs between any two answers.
func ask(t *testing.T, p *product.Product, r product.Request) product.Answer {
	t.Helper()
	r.Header = map[string]string{"X-Request-Id": "req_links"}
	answer := p.Send(t, r)
	for _, name := range []string{"Date", "X-Request-Id", "Ratelimit", "Ratelimit-Policy", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", "Traceparent"} {
		answer.Header.Del(name)
	}
	return answer
}

// same fails the test unless an answer is the same as the one for what does not exist.
func same(t *testing.T, what string, want, got product.Answer) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" || want.Status != http.StatusNotFound {
		t.Errorf("%s: %s", what, diff)
	}
}

// TestLinksThatDoNotWork asks the fetch host for links that are guessed, revoked or of a deleted
// inbox: all have one answer. A link of an expired inbox has another one.
func TestLinksThatDoNotWork(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		box, deleted, revoked := mint(t, p, `{"ttl":3600}`), mint(t, p, ""), mint(t, p, "")
		var tokens struct{ Data []struct{ ID, Prefix string } }
		api := p.BaseURL + "/v1/inboxes/"
		listed := p.Send(t, product.Request{URL: api + revoked.ID + "/pull-tokens", Bearer: p.Live.APIKey})
		if err := json.Unmarshal([]byte(listed.Body), &tokens); err != nil || len(tokens.Data) != 1 {
			t.Fatalf("%s: %v", listed.Body, err)
		}
		before := read(t, p, revoked.PullURL, "")
		for _, path := range []string{deleted.ID, revoked.ID + "/pull-tokens/" + tokens.Data[0].ID} {
			if got := p.Send(t, product.Request{Method: http.MethodDelete, URL: api + path, Bearer: p.Live.APIKey}); got.Status != http.StatusNoContent {
				t.Fatalf("%d %s", got.Status, got.Body)
			}
		}
		secret := strings.TrimSuffix(strings.TrimPrefix(box.PullURL, p.FetchURL+"/p/"), "/messages")
		unknown := strings.Map(func(r rune) rune { return 'A' }, secret)
		guesses := map[string]string{
			"revoked": strings.Replace(revoked.PullURL, "/messages", "", 1), "deleted": strings.Replace(deleted.PullURL, "/messages", "", 1),
		}
		for name, guess := range map[string]string{
			"shorter": secret[:len(secret)-1], "longer": secret + "A", "another case": strings.ToLower(secret), "prefix": tokens.Data[0].Prefix, "none": "",
			"escaped": "%" + "41" + secret[1:], "NUL": "%00" + secret[1:], "wildcard": "%25", "SQL": "'%20OR%201=1--", "long": strings.Repeat("x", 5000),
			"id of the inbox": box.ID, "id of the link": tokens.Data[0].ID,
		} {
			guesses[name] = p.FetchURL + "/p/" + guess
		}
		for _, suffix := range []string{"", "/messages", "/messages?after=0&wait=1", "/messages?match_subject=x"} {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				want := ask(t, p, product.Request{Method: method, URL: p.FetchURL + "/p/" + unknown + suffix})
				for name, url := range guesses {
					same(t, method+" "+name+suffix, want, ask(t, p, product.Request{Method: method, URL: url + suffix}))
				}
			}
		}
		if len(before.Messages) != 0 || len(read(t, p, box.PullURL, "").Messages) != 0 {
			t.Error("a link that works has no answer")
		}
		p.Clock.Advance(time.Hour)
		for _, url := range []string{box.PullURL, box.PullURL + "?wait=25", strings.TrimSuffix(box.PullURL, "/messages")} {
			if got := p.Send(t, product.Request{URL: url}); got.Status != http.StatusGone || !strings.Contains(got.Body, `"inbox_expired"`) {
				t.Errorf("expired: %d %s", got.Status, got.Body)
			}
		}
		unknownPage := ask(t, p, product.Request{URL: p.FetchURL + "/p/" + unknown + "/messages"})
		same(t, "deleted, after its time", unknownPage, ask(t, p, product.Request{URL: deleted.PullURL}))
		same(t, "revoked, after its time", unknownPage, ask(t, p, product.Request{URL: revoked.PullURL}))
	})
}

// TestInboxesOfOthers asks the API for inboxes of another organization, with each route. The
// answers are those for an inbox that does not exist.
func TestInboxesOfOthers(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		box := mint(t, p, `{"visibility":"org"}`)
		if err := send(p.SMTPAddr, "a@acme.test", box.Address, "From: a@acme.test\r\nSubject: secret\r\n\r\nsecret\r\n"); err != nil {
			t.Fatal(err)
		}
		const absent = "01976f3a-5b00-7000-8000-0000000000ff"
		for _, r := range []struct{ method, path, body string }{
			{http.MethodGet, "", ""},
			{http.MethodPatch, "", `{"label":"x"}`},
			{http.MethodDelete, "", ""},
			{http.MethodGet, "/messages", ""},
			{http.MethodGet, "/messages?wait=1&after=0", ""},
			{http.MethodPost, "/pull-tokens", `{"label":"x"}`},
			{http.MethodGet, "/pull-tokens", ""},
			{http.MethodDelete, "/pull-tokens/" + absent, ""},
		} {
			for name, key := range map[string]string{"live": p.Other.Live.APIKey, "test": p.Other.Test.APIKey} {
				url := p.BaseURL + "/v1/inboxes/"
				want := ask(t, p, product.Request{Method: r.method, URL: url + absent + r.path, Bearer: key, Body: r.body})
				got := ask(t, p, product.Request{Method: r.method, URL: url + box.ID + r.path, Bearer: key, Body: r.body})
				if diff := cmp.Diff(want, got); diff != "" || want.Status < 400 {
					t.Errorf("%s %s with the %s key: %d, %s", r.method, r.path, name, want.Status, diff)
				}
			}
		}
		if found := read(t, p, box.PollURL+"?wait=20", p.Live.APIKey); len(found.Messages) != 1 {
			t.Errorf("the inbox has %d messages", len(found.Messages))
		}
		listed := p.Send(t, product.Request{URL: p.BaseURL + "/v1/inboxes?scope=org&status=active", Bearer: p.Other.Live.APIKey})
		if strings.Contains(listed.Body, box.ID) {
			t.Errorf("the other organization lists the inbox: %s", listed.Body)
		}
	})
}
