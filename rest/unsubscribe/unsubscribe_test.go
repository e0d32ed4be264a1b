package unsubscribe_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/unsubscribe"
)

const (
	linkPath        = "/u/good"
	preferencesPath = "/u/good/preferences"
)

// TestGETChangesNothing checks the pages of a link, and that GET and HEAD change nothing.
func TestGETChangesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for path, text := range map[string]string{
		linkPath: "Unsubscribe from “Tea news”?", linkPath + "?List-Unsubscribe=One-Click&action=unsubscribe": "Northwind Tea will stop sending emails about this topic to a***@x.example.",
		preferencesPath: `<input type="checkbox" name="topic" value="news" checked><span>Tea news<span class="quiet">New teas, once a month.</span></span>`,
	} {
		answer, body := s.send(t, http.MethodGet, path, "", "")
		expect(t, path, answer, body, http.StatusOK, text, "Northwind Tea", `<html lang="en">`)
		head, none := s.send(t, http.MethodHead, path, "", "")
		if head.StatusCode != http.StatusOK || none != "" || head.Header.Get("Content-Length") != answer.Header.Get("Content-Length") {
			t.Errorf("HEAD %s: %v, %q", path, head, none)
		}
		_, _ = s.send(t, http.MethodGet, path, form, "List-Unsubscribe=One-Click")
	}
	if calls := s.takeCalls(); calls != "" {
		t.Errorf("changed: %s", calls)
	}
}

// TestOneClick checks one-click requests (RFC 8058) in both media types, and that other
// forms do not unsubscribe.
func TestOneClick(t *testing.T) {
	t.Parallel()
	multipart := "--x\r\nContent-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\nOne-Click\r\n--x--\r\n"
	for name, c := range map[string]struct {
		kind, body string
		status     int
		calls      string
	}{
		"a form":                 {form, "List-Unsubscribe=One-Click", 200, "unsubscribe"},
		"a form with a charset":  {form + "; charset=utf-8", "List-Unsubscribe=One-Click", 200, "unsubscribe"},
		"no media type":          {"", "List-Unsubscribe=One-Click", 200, "unsubscribe"},
		"multipart":              {"multipart/form-data; boundary=x", multipart, 200, "unsubscribe"},
		"lower case":             {form, "List-Unsubscribe=one-click", 200, "unsubscribe"},
		"no body":                {form, "", 422, ""},
		"another value":          {form, "List-Unsubscribe=Yes", 422, ""},
		"an invalid form":        {form, "List-Unsubscribe=One-Click&%zz", 400, ""},
		"an invalid multipart":   {"multipart/form-data; boundary=x", "--y", 400, ""},
		"multipart, no boundary": {"multipart/form-data", multipart, 400, ""},
		"a body that is large":   {form, "List-Unsubscribe=One-Click&x=" + strings.Repeat("x", 64<<10), 400, ""},
	} {
		s := newSite(t)
		answer, body := s.send(t, http.MethodPost, linkPath, c.kind, c.body)
		if calls := s.takeCalls(); answer.StatusCode != c.status || calls != c.calls || answer.Header.Get("Location") != "" || answer.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: status %d, calls %q\n%s", name, answer.StatusCode, calls, body)
		}
		if c.status == 200 && (answer.Header.Get("Content-Type") != "text/plain; charset=utf-8" ||
			body != "You are unsubscribed\nNorthwind Tea no longer sends “Tea news” to a***@x.example.\nAn email that is already on its way may still arrive.\n") {
			t.Errorf("%s: %v\n%s", name, answer.Header, body)
		}
	}
}

// TestButtons checks the buttons of the unsubscribe page in the order in which a recipient
// would press them.
func TestButtons(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	answer, body := s.send(t, http.MethodPost, linkPath, form, "action=unsubscribe")
	expect(t, "unsubscribe", answer, body, http.StatusOK, "<h1>You are unsubscribed</h1>", `value="subscribe">Subscribe again`, `href="`+preferencesPath+`"`)
	answer, body = s.send(t, http.MethodGet, linkPath, "", "")
	expect(t, "open again", answer, body, http.StatusOK, "<h1>You are unsubscribed</h1>", "Subscribe again")
	answer, body = s.send(t, http.MethodPost, linkPath, form, "action=subscribe")
	expect(t, "subscribe", answer, body, http.StatusOK, "<h1>You are subscribed again</h1>", `value="unsubscribe">Unsubscribe`)
	answer, body = s.send(t, http.MethodPost, linkPath, form, "action=delete")
	expect(t, "another action", answer, body, http.StatusUnprocessableEntity, "Unsubscribe from “Tea news”?")
	if calls := s.takeCalls(); calls != "unsubscribe subscribe" {
		t.Errorf("calls %q", calls)
	}
}

// TestStates checks the pages for links of other kinds and for other consent.
func TestStates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change      func(v *unsubscribe.Visit)
		page        []string
		preferences []string
		buttons     int
	}{
		"all mail":             {func(v *unsubscribe.Visit) { v.Token.Topic = "" }, []string{"Unsubscribe from all emails?", "will stop sending emails to a***@x.example."}, []string{"Tea news"}, 1},
		"out of all mail":      {func(v *unsubscribe.Visit) { v.Token.Topic, v.IsOutOfAll = "", true }, []string{"no longer sends emails to a***@x.example.", "Subscribe again"}, []string{`value="yes" checked`}, 1},
		"a topic, out of all":  {func(v *unsubscribe.Visit) { v.IsOutOfAll = true }, []string{"no longer sends emails to a***@x.example.", "Choose which emails"}, []string{`value="yes" checked`}, 0},
		"a deleted topic":      {func(v *unsubscribe.Visit) { v.Token.Topic = "gone" }, []string{"no longer sends “gone”"}, []string{"Tea news"}, 1},
		"no topics":            {func(v *unsubscribe.Visit) { v.Token.Topic, v.Topics = "", nil }, []string{"Unsubscribe from all emails?"}, []string{"No emails at all"}, 1},
		"a contact that left":  {func(v *unsubscribe.Visit) { v.IsKnown, v.Email = false, "" }, []string{"You receive no emails from Northwind Tea"}, []string{"You receive no emails from Northwind Tea"}, 0},
		"an erased sender":     {func(v *unsubscribe.Visit) { *v = unsubscribe.Visit{Token: v.Token, IsGone: true} }, []string{"no more emails from this sender"}, []string{"no more emails from this sender"}, 0},
		"a test mail":          {func(v *unsubscribe.Visit) { v.Token.ContactID, v.IsKnown = "", false }, []string{"This link is from a test email"}, []string{"This link is from a test email"}, 0},
		"German in Austria":    {func(v *unsubscribe.Visit) { v.Language = "de-AT" }, []string{`<html lang="de">`, "„Tea news“ abbestellen?"}, []string{"Ihre E-Mails von Northwind Tea"}, 1},
		"no language":          {func(v *unsubscribe.Visit) { v.Language = "" }, []string{`<html lang="en">`}, []string{`<html lang="en">`}, 1},
		"an unknown language":  {func(v *unsubscribe.Visit) { v.Language = "ja" }, []string{`<html lang="en">`}, []string{`<html lang="en">`}, 1},
		"names with markup":    {func(v *unsubscribe.Visit) { v.OrgName, v.Topics[0].Title = "<b>{email}", `"><script>{org}` }, []string{"&lt;b&gt;{email}", "“&#34;&gt;&lt;script&gt;{org}”"}, []string{"&#34;&gt;&lt;script&gt;{org}"}, 1},
		"a name with an input": {func(v *unsubscribe.Visit) { v.Topics[1].Name = `a" checked x="` }, []string{"Tea news"}, []string{`value="a&#34; checked x=&#34;"><span>`}, 1},
	} {
		s := newSite(t)
		c.change(&s.visit)
		answer, body := s.send(t, http.MethodGet, linkPath, "", "")
		expect(t, name, answer, body, http.StatusOK, c.page...)
		if n := strings.Count(body, "<button"); n != c.buttons || strings.Contains(body, "<script") {
			t.Errorf("%s: %d buttons in\n%s", name, n, body)
		}
		answer, body = s.send(t, http.MethodGet, preferencesPath, "", "")
		expect(t, name+", preferences", answer, body, http.StatusOK, c.preferences...)
	}
}

// TestSavePreferences checks how the form of the page of preferences is read.
func TestSavePreferences(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	answer, body := s.send(t, http.MethodPost, preferencesPath, form, "action=save&shown=news&before=news&shown=offers&topic=offers&none=yes")
	expect(t, "save", answer, body, http.StatusOK, `role="status">Your choices are saved.`, `name="topic" value="news"><span>`)
	want := unsubscribe.Preferences{None: true, Shown: []string{"news", "offers"}, In: []string{"offers"}, Before: []string{"news"}}
	if diff := cmp.Diff(want, s.saved); diff != "" || s.takeCalls() != "save" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, body := range []string{"", "List-Unsubscribe=One-Click", "action=unsubscribe"} {
		if answer, _ := s.send(t, http.MethodPost, preferencesPath, form, body); answer.StatusCode != http.StatusUnprocessableEntity || s.takeCalls() != "" {
			t.Errorf("%q: status %d", body, answer.StatusCode)
		}
	}
}

// TestBadLinks checks that bad links say nothing about the reason, in a language of the
// browser, and that other methods are refused.
func TestBadLinks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, path := range []string{"/u/", "/u/bad", "/u/good/", "/u/good/more", "/u/good/preferences/", "/u/good/preferences/preferences", "/u//preferences"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			answer, body := s.send(t, method, path, form, "List-Unsubscribe=One-Click")
			expect(t, method+" "+path, answer, body, http.StatusNotFound, "<h1>This link does not work</h1>")
		}
	}
	for accepted, want := range map[string]string{"": "en", "ja, en": "en", "nl-BE,nl;q=0.9": "nl", "xx;q=1, fr;q=0.5": "fr", ";;,": "en"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/u/bad", nil)
		r.Header.Set("Accept-Language", accepted)
		answer, body := s.answer(t, r)
		expect(t, accepted, answer, body, http.StatusNotFound, `<html lang="`+want+`">`)
	}
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodOptions, "BREW"} {
		if answer, _ := s.send(t, method, linkPath, "", ""); answer.StatusCode != http.StatusMethodNotAllowed || answer.Header.Get("Allow") != "GET, HEAD, POST" {
			t.Errorf("%s: %d, %v", method, answer.StatusCode, answer.Header)
		}
	}
	if calls := s.takeCalls(); calls != "" || s.log.Len() > 0 {
		t.Errorf("calls %q, log %s", calls, s.log.String())
	}
}

// TestHeaders checks the headers of each kind of answer.
func TestHeaders(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, c := range [][3]string{{"GET", linkPath, ""}, {"GET", preferencesPath, ""}, {"GET", "/u/bad", ""}, {"POST", linkPath, "List-Unsubscribe=One-Click"}, {"PUT", linkPath, ""}} {
		answer, body := s.send(t, c[0], c[1], form, c[2])
		policy := answer.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "script") || strings.Contains(policy, "http") {
			t.Errorf("%v: policy %q", c, policy)
		}
		for header, want := range map[string]string{
			"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Robots-Tag": "noindex, nofollow", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Set-Cookie": "",
		} {
			if got := answer.Header.Get(header); got != want {
				t.Errorf("%v: %s is %q", c, header, got)
			}
		}
		if strings.Contains(body, "http://") || strings.Contains(body, "https://") || answer.Header.Get("X-Request-Id") == "" {
			t.Errorf("%v: a remote address in\n%s", c, body)
		}
	}
}

// TestLimits checks the limits on the POST requests of a link and of a client address.
func TestLimits(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	post := func(path, from string) reply {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader("List-Unsubscribe=One-Click"))
		r.Header.Set("Content-Type", form)
		r.RemoteAddr = from
		answer, _ := s.answer(t, r)
		return answer
	}
	for range 10 {
		if answer := post(linkPath, "192.0.2.1:1"); answer.StatusCode != http.StatusOK {
			t.Fatalf("status %d", answer.StatusCode)
		}
	}
	if answer := post(linkPath, "192.0.2.2:1"); answer.StatusCode != http.StatusTooManyRequests || answer.Header.Get("Retry-After") != "6" {
		t.Errorf("one link, too often: %d, %v", answer.StatusCode, answer.Header)
	}
	if answer, _ := s.send(t, http.MethodGet, linkPath, "", ""); answer.StatusCode != http.StatusOK {
		t.Errorf("GET: status %d", answer.StatusCode)
	}
	s.now = s.now.Add(time.Minute)
	if answer := post(linkPath, "192.0.2.2:1"); answer.StatusCode != http.StatusOK {
		t.Errorf("a minute later: status %d", answer.StatusCode)
	}
	refused := 0
	for i := range 310 {
		if post("/u/"+strings.Repeat("x", i), "[2001:db8::1]:1").StatusCode == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused != 10 || post("/u/y", "192.0.2.3:1").StatusCode != http.StatusNotFound {
		t.Errorf("%d requests of a client were refused", refused)
	}
}

// TestFailures checks that a failure is logged without the link, and that its page has no
// details.
func TestFailures(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.failure = errors.New("no room on disk")
	for _, c := range [][3]string{{"GET", linkPath, ""}, {"POST", linkPath, "List-Unsubscribe=One-Click"}, {"POST", linkPath, "action=subscribe"}, {"POST", preferencesPath, "action=save"}} {
		answer, body := s.send(t, c[0], c[1], form, c[2])
		expect(t, c[0]+" "+c[2], answer, body, http.StatusInternalServerError, "Something went wrong")
		if log := s.log.String(); strings.Contains(body, "room") || !strings.Contains(log, "no room on disk") || strings.Contains(log, "good") {
			t.Errorf("%v: log %s", c, log)
		}
		s.log.Reset()
	}
}
