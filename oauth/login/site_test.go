package login_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/attempts"
	"github.com/mailhelm/mailhelm/core/closing"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/passwordchange"
	"github.com/mailhelm/mailhelm/core/passwords"
	"github.com/mailhelm/mailhelm/core/passwords/passwordstest"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/oauth/login"
	"github.com/mailhelm/mailhelm/oauth/passkey"
	"github.com/mailhelm/mailhelm/storage"
	closingstore "github.com/mailhelm/mailhelm/storage/closing"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

const (
	email    = "owner@example.org"
	password = "canary-password-7f3a"
)

var passwordHash = passwordstest.Hash(password)

// house has the pages on a real store, with a recorded log. The user belongs to the
// organizations Acme and Zeta.
type house struct {
	t      *testing.T
	routes map[string]http.Handler
	orgs   []core.Org
	logged *lockedBuffer

	db       *storage.DB
	user     access.User
	sessions *people.Sessions
	now      time.Time
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func newHouse(t *testing.T, appURL string) *house {
	t.Helper()
	db := storagetest.SQLite(t)
	h := &house{t: t, logged: &lockedBuffer{}, now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	user := access.User{ID: core.NewID(), Email: email, Name: "<b>Owner</b>", PasswordHash: passwordHash, CreatedAt: h.now}
	h.must(db.Users().InsertUser(t.Context(), user))
	for _, name := range []string{"Acme", "Zeta"} {
		org := core.Org{ID: core.NewID(), Name: name, Slug: strings.ToLower(name), Tier: "team", RetentionDays: 90}
		h.must(db.Orgs().InsertOrg(t.Context(), org))
		h.must(db.Members().AddMember(t.Context(), org.ID, user.ID, string(members.Owner)))
		h.orgs = append(h.orgs, org)
	}
	h.db, h.user = db, user
	log := slog.New(slog.NewJSONHandler(h.logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	queue, err := db.NewJobs(engine.JobsConfig{})
	h.must(err)
	clock := func() time.Time { return h.now }
	limits := attempts.New(attempts.Config{Devices: db.People(), Queue: queue, Clock: clock, Log: log})
	stores := people.SessionsConfig{
		Users: db.Users(), Sessions: db.Sessions(), Factors: db.Factors(), Passkeys: db.Passkeys(), Members: db.Members(), Orgs: db.Orgs(), Audit: db.Audit(), Attempts: limits, Tx: db, Clock: clock, PasswordCost: passwords.LeastCost(),
	}
	h.sessions = people.NewSessions(stores)
	master, err := signing.NewMasterKey(bytes.Repeat([]byte{7}, 32))
	h.must(err)
	ceremonies, err := passkey.New(appURL)
	h.must(err)
	factors := people.NewSecondFactors(people.SecondFactorsConfig{Sessions: h.sessions, Master: master, Passkeys: ceremonies})
	site, err := login.New(login.Config{
		Sessions: h.sessions, Factors: factors, Devices: limits,
		Passwords: passwordchange.New(passwordchange.Config{
			Stores: passwordchange.Stores{
				Users: db.Users(), Resets: db.PasswordResets(), Sessions: db.Sessions(), Devices: db.People(),
				Audit: stores, Notices: people.Notices{Queue: queue}, Tx: db, Clock: clock,
			},
			Hasher: h.sessions, Attempts: limits, Queue: queue, Mails: true,
		}),
		Accounts: closing.People{
			Store: closingstore.NewPersonStore(db.DB), Users: db.Users(), Members: db.Members(), Grants: db.Grants(),
			Keys: closing.Keys{List: db.Keys()}, Audit: db.Audit(), Transactor: db, Clock: clock,
		},
		Warnings: people.Warnings{Store: db.People(), Clock: clock},
		AppURL:   appURL, DocsURL: appURL + "/docs", Proxies: knownProxies(t), Log: log,
	})
	h.must(err)
	h.routes = site.Routes()
	return h
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// answer is the response to a request of the browser.
type answer struct {
	StatusCode int
	Header     http.Header
	body       string
}

func (a answer) cookies() []*http.Cookie { return (&http.Response{Header: a.Header}).Cookies() }

// mergeCookies returns the cookies that a browser has after a response: a cookie in got
// replaces the cookie of the same name in had.
func mergeCookies(had, got []*http.Cookie) []*http.Cookie {
	all := append([]*http.Cookie(nil), got...)
	for _, c := range had {
		if !slices.ContainsFunc(got, func(other *http.Cookie) bool { return other.Name == c.Name }) {
			all = append(all, c)
		}
	}
	return all
}

// send sends a request with cookies: a GET, or a POST if form is not nil. headers are names
// and values.
func (h *house) send(path string, form url.Values, cookies []*http.Cookie, headers ...string) answer {
	h.t.Helper()
	method, body := http.MethodGet, io.Reader(nil)
	if form != nil {
		method, body = http.MethodPost, strings.NewReader(form.Encode())
	}
	r := httptest.NewRequest(method, path, body)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for _, c := range cookies {
		r.AddCookie(c)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.routes[r.URL.Path].ServeHTTP(w, r)
	return answer{w.Code, w.Header(), w.Body.String()}
}

// signIn signs in ten seconds after the previous attempt, so that the limit of attempts
// does not apply.
func (h *house) signIn(next string) answer {
	h.t.Helper()
	h.now = h.now.Add(10 * time.Second)
	r := h.send("/login", url.Values{"email": {email}, "password": {password}, "next": {next}}, nil)
	if r.StatusCode != http.StatusSeeOther || len(r.cookies()) != 2 {
		h.t.Fatalf("sign in: %d with %d cookies", r.StatusCode, len(r.cookies()))
	}
	return r
}

// currentUser returns the account page for the cookies, or "" if they belong to no
// signed-in person.
func (h *house) currentUser(cookies []*http.Cookie) string {
	h.t.Helper()
	page := h.send("/login", nil, cookies).body
	if strings.Contains(page, "You are signed in") {
		return page
	}
	return ""
}

func TestCookieAttributes(t *testing.T) {
	t.Parallel()
	for appURL, want := range map[string][2]string{
		"https://app.test": {
			"__Host-mailhelm_session=*; Path=/; Max-Age=43200; HttpOnly; Secure; SameSite=Lax",
			"__Host-mailhelm_device=*; Path=/; Max-Age=15552000; HttpOnly; Secure; SameSite=Lax",
		},
		"http://localhost:8081": {
			"mailhelm_session=*; Path=/; Max-Age=43200; HttpOnly; SameSite=Lax",
			"mailhelm_device=*; Path=/; Max-Age=15552000; HttpOnly; SameSite=Lax",
		},
	} {
		h := newHouse(t, appURL)
		r := h.signIn("")
		for i, cookie := range r.cookies() {
			if got := strings.Replace(r.Header["Set-Cookie"][i], cookie.Value, "*", 1); got != want[i] {
				t.Errorf("%s: %s", appURL, got)
			}
		}
		if h.currentUser(r.cookies()) == "" {
			t.Errorf("%s: the cookie does not sign in", appURL)
		}
		twice := append(r.cookies(), &http.Cookie{Name: r.cookies()[0].Name, Value: strings.Repeat("A", 52)})
		if h.currentUser(twice) != "" {
			t.Errorf("%s: two cookies of the name are told apart by guessing", appURL)
		}
	}
}

func TestSessionFixation(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "https://app.test")
	planted := h.signIn("").cookies()
	own := h.send("/login", url.Values{"email": {email}, "password": {password}}, planted).cookies()
	if len(own) != 2 || own[0].Value == planted[0].Value {
		t.Fatal("signing in keeps the cookie that was there")
	}
	if h.currentUser(planted) != "" || h.currentUser(own) == "" {
		t.Error("the planted session lives on")
	}
	invented := &http.Cookie{Name: own[0].Name, Value: strings.Repeat("A", 52)}
	got := h.send("/login", url.Values{"email": {email}, "password": {password}}, []*http.Cookie{invented}).cookies()
	if len(got) != 2 || got[0].Value == invented.Value {
		t.Error("an invented session was adopted")
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "https://app.test")
	wrong := url.Values{"email": {email}, "password": {"wrong"}}
	const script = "; script-src 'self'; connect-src 'self'"
	scripts := map[string]string{"form": script, "wrong": script, "security": script}
	for name, r := range map[string]answer{
		"form": h.send("/login", nil, nil), "wrong": h.send("/login", wrong, nil), "signed in": h.signIn(""),
		"account": h.send("/login", nil, h.signIn("").cookies()), "method": h.send("/logout", nil, nil),
		"security": h.send("/account/security", nil, h.signIn("").cookies()),
		"password": h.send("/account/security/password", nil, h.signIn("").cookies()), "forgotten": h.send("/login/forgotten", nil, nil),
		"link":  h.send("/login/new-password?token=x", nil, nil),
		"cross": h.send("/login", wrong, nil, "Sec-Fetch-Site", "cross-site"),
	} {
		for header, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'" + scripts[name],
			"X-Frame-Options":         "DENY", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
		} {
			if got := r.Header.Get(header); got != want {
				t.Errorf("%s: %s: %q", name, header, got)
			}
		}
		if r.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s: no request id", name)
		}
	}
}

func TestFormsOfOtherSites(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "https://app.test")
	cookies := h.signIn("").cookies()
	good := url.Values{"email": {email}, "password": {password}, "org_id": {h.orgs[1].ID}}
	for _, path := range []string{
		"/login", "/logout", "/logout-everywhere", "/switch-org", "/login/forgotten", "/login/new-password", "/account/security/password",
	} {
		for _, headers := range [][]string{
			{"Sec-Fetch-Site", "cross-site"},
			{"Sec-Fetch-Site", "same-site"},
			{"Sec-Fetch-Site", "", "Origin", "https://evil.test"},
			{"Sec-Fetch-Site", "", "Origin", "null"},
		} {
			r := h.send(path, good, cookies, headers...)
			if r.StatusCode != http.StatusForbidden || len(r.cookies()) != 0 {
				t.Errorf("%s with %v: %d", path, headers, r.StatusCode)
			}
		}
	}
	if page := h.currentUser(cookies); !strings.Contains(page, "<dd>Acme</dd>") {
		t.Errorf("a form of another site did something: %s", page)
	}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "https://app.test")
	for path, allow := range map[string]string{
		"/login": "GET, POST", "/login/forgotten": "GET, POST", "/login/new-password": "GET, POST", "/account/security/password": "GET, POST",
		"/logout": "POST", "/logout-everywhere": "POST", "/switch-org": "POST", "/login/style.css": "GET, HEAD",
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
			w := httptest.NewRecorder()
			h.routes[path].ServeHTTP(w, httptest.NewRequest(method, path, nil))
			if allowed := strings.Contains(allow, method); allowed == (w.Code == http.StatusMethodNotAllowed) {
				t.Errorf("%s %s: %d", method, path, w.Code)
			}
			if w.Code == http.StatusMethodNotAllowed && w.Header().Get("Allow") != allow {
				t.Errorf("%s %s: Allow %q", method, path, w.Header().Get("Allow"))
			}
		}
	}
}
