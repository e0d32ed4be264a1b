package consent_test

import (
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/attempts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/passwordchange"
	"github.com/mailhelm/mailhelm/core/passwords"
	"github.com/mailhelm/mailhelm/core/passwords/passwordstest"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/oauth"
	"github.com/mailhelm/mailhelm/oauth/consent"
	"github.com/mailhelm/mailhelm/oauth/login"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

const (
	email    = "owner@example.org"
	password = "correct horse battery staple"
	redirect = "https://client.test/callback"
	appURL   = "https://app.test"
)

var (
	start        = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	passwordHash = passwordstest.Hash(password)
)

// office is a test fixture: the consent and sign-in pages, with an authorization server on
// a real SQLite database. The user belongs to the organizations Acme, which owns the
// client, and Zeta.
type office struct {
	t      *testing.T
	db     *storage.DB
	pages  map[string]http.Handler
	acme   core.Org
	zeta   core.Org
	user   access.User
	client access.Client
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{t: t, db: storagetest.SQLite(t)}
	clock := func() time.Time { return start }
	log := slog.New(slog.DiscardHandler)
	master, err := signing.LoadMasterKey(filepath.Join(t.TempDir(), "master.key"))
	o.must(err)
	keys, err := signing.NewKeys(t.Context(), o.db.SigningKeys(), master, clock)
	o.must(err)
	server, err := oauth.New(oauth.Config{
		Issuer: appURL, APIResource: "https://api.test", AgentResource: "https://mcp.test", AuthorizeURL: appURL + consent.Path,
		Stores: o.db.Access(), Orgs: o.db.Orgs(), Members: members.Ceilings{Members: o.db.Members()}, Keys: keys, Clock: clock, Log: log,
	})
	o.must(err)
	queue, err := o.db.NewJobs(engine.JobsConfig{})
	o.must(err)
	limits := attempts.New(attempts.Config{Devices: o.db.People(), Queue: queue, Clock: clock, Log: log})
	sessions := people.NewSessions(people.SessionsConfig{
		Users: o.db.Users(), Sessions: o.db.Sessions(), Factors: o.db.Factors(), Passkeys: o.db.Passkeys(), Members: o.db.Members(), Orgs: o.db.Orgs(), Audit: o.db.Audit(), Attempts: limits, Tx: o.db, Clock: clock, PasswordCost: passwords.LeastCost(),
	})
	site, err := login.New(login.Config{
		Sessions: sessions, Factors: people.NewSecondFactors(people.SecondFactorsConfig{Sessions: sessions, Master: master}),
		Devices: limits, Passwords: passwordchange.New(passwordchange.Config{}), // empty, because these tests do not open the password pages
		AppURL: appURL, DocsURL: appURL + "/docs", Log: log,
	})
	o.must(err)
	page, err := consent.New(consent.Config{Server: server, Login: site})
	o.must(err)
	o.pages = site.Routes()
	o.pages[consent.Path] = page.Handler()
	o.seed()
	return o
}

func (o *office) seed() {
	ctx := o.t.Context()
	o.user = access.User{ID: core.NewID(), Email: email, Name: "Owner", PasswordHash: passwordHash, CreatedAt: start}
	o.must(o.db.Users().InsertUser(ctx, o.user))
	for _, org := range []*core.Org{&o.acme, &o.zeta} {
		name := map[*core.Org]string{&o.acme: "Acme", &o.zeta: "Zeta"}[org]
		*org = core.Org{ID: core.NewID(), Name: name, Slug: strings.ToLower(name), Tier: "team", RetentionDays: 90}
		o.must(o.db.Orgs().InsertOrg(ctx, *org))
		o.must(o.db.Members().AddMember(ctx, org.ID, o.user.ID, string(members.Owner)))
	}
	o.client = access.Client{
		ID: core.NewID(), ClientID: access.MintClientID(core.Live), OrgID: o.acme.ID, Name: "<i>Robot</i>", Environment: core.Live,
		Scopes:       core.NewScopes("api.contacts.view", "api.contacts.manage", "api.lists.view", "api.messages.unmask_recipients"),
		RedirectURIs: []string{redirect, "http://localhost:51234/cb", "http://[::1]:51234/cb"}, CreatedAt: start,
	}
	o.must(o.db.Clients().InsertClient(ctx, o.client))
}

func (o *office) must(err error) {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
}

// request returns the query of a valid authorization request. changes are names and values
// of parameters to replace.
func (o *office) request(changes ...string) string {
	query := url.Values{
		"response_type": {"code"}, "client_id": {o.client.ClientID}, "redirect_uri": {redirect}, "state": {"s&\"<1>"},
		"code_challenge": {"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}, "code_challenge_method": {"S256"},
	}
	for i := 0; i < len(changes); i += 2 {
		query.Set(changes[i], changes[i+1])
	}
	return query.Encode()
}

type browser struct {
	*office
	cookies []*http.Cookie
}

// answer is the response to a request of the browser.
type answer struct {
	StatusCode int
	Header     http.Header
	body       string
}

// send sends a request with the browser's cookies. If form is not nil, it sends the form
// with the headers that a browser sets for a page of the same site.
func (b *browser) send(method, path string, form url.Values, headers ...string) answer {
	b.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for _, c := range b.cookies {
		r.AddCookie(c)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	b.pages[r.URL.Path].ServeHTTP(w, r)
	if set := (&http.Response{Header: w.Header()}).Cookies(); len(set) > 0 {
		b.cookies = set
	}
	return answer{w.Code, w.Header(), w.Body.String()}
}

func (o *office) signedIn() *browser {
	o.t.Helper()
	b := &browser{office: o}
	if r := b.send("POST", "/login", url.Values{"email": {email}, "password": {password}}); r.StatusCode != http.StatusSeeOther {
		o.t.Fatalf("sign in: %d", r.StatusCode)
	}
	return b
}

func (b *browser) switchTo(org core.Org) {
	b.t.Helper()
	if r := b.send("POST", "/switch-org", url.Values{"org_id": {org.ID}}); r.StatusCode != http.StatusSeeOther {
		b.t.Fatalf("switch: %d", r.StatusCode)
	}
}

var hidden = regexp.MustCompile(`<input type="hidden" name="(request|token|org_id)" value="([^"]*)">`)

// open opens the consent page and returns its HTML and the form with the preselected
// scopes.
func (b *browser) open(query string) (string, url.Values) {
	b.t.Helper()
	r := b.send("GET", consent.Path+"?"+query, nil)
	page := r.body
	if r.StatusCode != http.StatusOK {
		b.t.Fatalf("consent page: %d: %s", r.StatusCode, page)
	}
	form := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(page, -1) {
		form.Set(m[1], html.UnescapeString(m[2]))
	}
	for _, m := range regexp.MustCompile(`name="scope" value="([^"]*)" checked`).FindAllStringSubmatch(page, -1) {
		form.Add("scope", m[1])
	}
	return page, form
}

// grants returns the user's grants in the client's organization, Acme.
func (o *office) grants() []access.Grant {
	o.t.Helper()
	all, err := o.db.Grants().Grants(o.t.Context(), o.acme.ID, access.GrantFilter{UserID: o.user.ID, Limit: 10})
	o.must(err)
	return all
}

// location splits the Location header of a redirect into the URL without query and the
// query parameters.
func location(t *testing.T, r answer) (string, url.Values) {
	t.Helper()
	u, err := url.Parse(r.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	parameters := u.Query()
	u.RawQuery = ""
	return u.String(), parameters
}
