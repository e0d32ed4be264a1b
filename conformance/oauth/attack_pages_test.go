package oauth_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/access"
)

var (
	pageLink = regexp.MustCompile(`href="(/[^"#]*)"`)
	pageForm = regexp.MustCompile(`(?s)<form\b[^>]*>.*?</form>`)
	target   = regexp.MustCompile(`\b(?:form)?action="(/[^"]*)"`)
)

// walk follows all links and redirects in the app from the given paths. It returns the
// answers by path, and the target paths of all forms that post.
func (s *scene) walk(b *http.Client, from ...string) (map[string]answer, []string) {
	s.t.Helper()
	pages, targets := map[string]answer{}, []string{}
	for len(from) > 0 {
		path := from[0]
		from = from[1:]
		if _, seen := pages[path]; seen || strings.HasPrefix(path, "/docs") || len(pages) > 200 {
			continue
		}
		a := s.get(b, path)
		pages[path] = a
		if to := a.header.Get("Location"); strings.HasPrefix(to, "/") {
			from = append(from, to)
		}
		if !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
			continue
		}
		for _, m := range pageLink.FindAllStringSubmatch(a.body, -1) {
			from = append(from, html.UnescapeString(m[1]))
		}
		for _, f := range pageForm.FindAllString(a.body, -1) {
			for _, m := range target.FindAllStringSubmatch(f, -1) {
				if to := html.UnescapeString(m[1]); strings.Contains(f, `method="post"`) && !slices.Contains(targets, to) {
					targets = append(targets, to)
				}
			}
		}
	}
	return pages, targets
}

// starts returns the paths from which [scene.walk] follows links: the sign-in page, the
// dashboard and the consent page.
func (s *scene) starts() []string {
	return []string{"/login", "/dashboard", "/oauth/authorize?" + query(s.app), "/login?next=%2Fdashboard"}
}

// TestAttackClickjacking checks the headers of every page, error pages included. They must
// forbid other sites to frame the page (RFC 9700 section 4.16), and browsers to store it or
// to send referrers.
func TestAttackClickjacking(t *testing.T) {
	t.Parallel()
	s := oneScene(t)
	s.joinOther()
	victim := s.signedIn()
	foreign := s.application(s.p.Other.OrgID, "", callback)
	pages, _ := s.walk(victim, s.starts()...)
	for name, a := range map[string]answer{
		"sign-in form":           s.get(s.browser(), "/login"),
		"wrong password":         s.signIn(s.browser(), s.p.UserEmail, "wrong"),
		"no such client":         s.get(victim, "/oauth/authorize?client_id=x"),
		"no request":             s.get(victim, "/oauth/authorize"),
		"error to the client":    s.get(victim, "/oauth/authorize?"+query(s.app, "scope", "openid")),
		"another organization":   s.get(victim, "/oauth/authorize?"+query(foreign)),
		"method not allowed":     s.get(victim, "/logout"),
		"form of another site":   s.send(victim, http.MethodPost, s.p.AppURL+"/login", "", "Content-Type", form, "Sec-Fetch-Site", "cross-site"),
		"form not read":          s.send(victim, http.MethodPost, s.p.AppURL+"/login", "%zz", "Content-Type", form),
		"form too long":          s.send(victim, http.MethodPost, s.p.AppURL+"/login", strings.Repeat("a", 100<<10), "Content-Type", form),
		"stale consent":          s.submit(victim, "/oauth/authorize", url.Values{"request": {query(s.app)}, "decision": {"approve"}}),
		"switch without a place": s.submit(victim, "/switch-org", url.Values{"org_id": {"x"}}),
		"nothing there":          s.get(victim, "/no-such-page"),
		"nothing there, signed":  s.get(victim, "/dashboard/no-such-page"),
	} {
		pages[name] = a
	}
	for name, a := range pages {
		if kind := a.header.Get("Content-Type"); kind != "" && !strings.HasPrefix(kind, "text/html") {
			continue // an answer that is not HTML has nothing to click
		}
		t.Run(name, func(t *testing.T) {
			policy := a.header.Get("Content-Security-Policy")
			for _, directive := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
				if !strings.Contains(policy, directive) {
					t.Errorf("policy %q lacks %s", policy, directive)
				}
			}
			if strings.Contains(policy, "unsafe") || strings.Contains(policy, "script-src *") {
				t.Errorf("policy %q", policy)
			}
			for header, want := range map[string]string{
				"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
				"Access-Control-Allow-Origin": "",
			} {
				if got := a.header.Get(header); got != want {
					t.Errorf("%s: %q", header, got)
				}
			}
		})
	}
}

// TestAttackCrossSiteForms checks that every form is refused if another site or a sandboxed
// frame posts it with the victim's cookie.
func TestAttackCrossSiteForms(t *testing.T) {
	t.Parallel()
	s := oneScene(t)
	s.joinOther()
	victim := s.signedIn()
	_, targets := s.walk(victim, s.starts()...)
	for _, path := range []string{"/login", "/logout", "/logout-everywhere", "/switch-org", "/oauth/authorize"} {
		if !slices.Contains(targets, path) {
			targets = append(targets, path)
		}
	}
	shown := s.consent(victim, query(s.app))
	shown.Set("decision", "approve")
	shown.Set("email", s.p.UserEmail)
	shown.Set("password", s.p.UserPassword)
	shown.Set("org_id", s.p.Other.OrgID)
	events := s.events()
	for _, path := range targets {
		for name, headers := range map[string][]string{
			"another site":       {"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"},
			"sibling host":       {"Sec-Fetch-Site", "same-site", "Origin", "https://evil.example"},
			"old browser":        {"Origin", "https://evil.example"},
			"sandboxed frame":    {"Origin", "null"},
			"another port":       {"Origin", s.p.BaseURL},
			"another scheme":     {"Origin", strings.Replace(s.p.AppURL, "http://", "https://", 1), "Sec-Fetch-Site", "same-site"},
			"longer host":        {"Origin", s.p.AppURL + ".evil.example"},
			"referrer of itself": {"Origin", "https://evil.example", "Referer", s.p.AppURL + path},
		} {
			t.Run(name+" to "+path, func(t *testing.T) {
				a := s.on(t).send(victim, http.MethodPost, s.p.AppURL+path, shown.Encode(), append(headers, "Content-Type", form)...)
				if a.status != http.StatusForbidden || len(a.header["Set-Cookie"]) != 0 || a.header.Get("Location") != "" {
					t.Errorf("%d %v", a.status, a.header)
				}
			})
		}
	}
	if a := s.get(victim, "/login"); a.status != http.StatusOK || strings.Contains(a.body, "<dd>Other Org") {
		t.Errorf("the victim was signed out or moved: %d %s", a.status, a.body)
	}
	if s.grants() != 0 || s.events() != events {
		t.Error("a forged form did something")
	}
}

// events returns the number of audit events in the product's two organizations.
func (s *scene) events() int {
	s.t.Helper()
	sum := 0
	for _, org := range []string{s.p.OrgID, s.p.Other.OrgID} {
		all, err := s.p.DB.Audit().FindAudit(s.t.Context(), org, access.AuditFilter{Limit: 1000})
		s.must(err)
		sum += len(all)
	}
	return sum
}
