package oauth_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/bearer"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/oauth"
	"github.com/mailhelm/mailhelm/oauth/clientdocument"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

const (
	apiResource   = "http://localhost:8080"
	agentResource = "http://localhost:8082"
	authorizeURL  = "http://localhost:8081/oauth/authorize"
	docsURL       = "http://localhost:8081/docs"
	form          = "application/x-www-form-urlencoded"
)

// logged holds everything that the tests of this package log, at every level. It includes
// the messages of the OpenID Connect library, which uses slog's default logger.
var (
	logged lockedBuffer
	logger = slog.New(slog.NewJSONHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
)

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

// world is an authorization server on the loopback, with its stores and with clients of two
// organizations.
type world struct {
	t        testing.TB
	db       *storage.DB
	server   *oauth.Server
	keys     *signing.Keys
	master   signing.MasterKey
	config   oauth.Config
	issuer   string
	verifier *oauth.Verifier
	auth     *bearer.Authenticator

	mu  sync.Mutex
	now time.Time

	live, test, public, revoked, other registeredClient
	// app is a confidential client and native a public one; both have redirect URIs. The
	// user ann owns their organization.
	app, native registeredClient
	ann         members.Member
}

// registeredClient is a client together with its secret in clear text. The secret of a
// public client is "".
type registeredClient struct {
	access.Client
	secret string
}

var start = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// each runs a test on SQLite and on PostgreSQL, each time with a new world.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) { test(t, newWorld(t, db)) })
}

// once runs a test on SQLite. In a full test run it also runs on PostgreSQL.
func once(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	storagetest.Once(t, func(t *testing.T, db *storage.DB) { test(t, newWorld(t, db)) })
}

// protocol runs a test on SQLite only, because its result does not depend on the database.
func protocol(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	test(t, newWorld(t, storagetest.SQLite(t)))
}

func newWorld(t testing.TB, db *storage.DB) *world {
	t.Helper()
	// Set the default logger for every world, because a product started by another test
	// replaces it.
	slog.SetDefault(logger)
	w := &world{t: t, db: db, now: start}
	var err error
	w.master, err = signing.LoadMasterKey(filepath.Join(t.TempDir(), "master.key"))
	w.must(err)
	w.keys, err = signing.NewKeys(t.Context(), w.db.SigningKeys(), w.master, w.clock)
	w.must(err)

	listener := httptest.NewUnstartedServer(nil)
	w.issuer = "http://" + listener.Listener.Addr().String()
	w.config = oauth.Config{
		Issuer: w.issuer, APIResource: apiResource, AgentResource: agentResource,
		AuthorizeURL: authorizeURL, DocsURL: docsURL, Introspection: true,
		Stores: db.Access(), Orgs: db.Orgs(), Members: members.Ceilings{Members: db.Members()},
		Documents: clientdocument.New(clientdocument.Config{Clock: w.clock}), // reaches nothing on the loopback
		Keys:      w.keys, Clock: w.clock, Log: logger,
	}
	w.verifier, err = oauth.NewVerifier(w.config)
	w.must(err)
	w.auth = w.authenticator()
	w.config.Principals = w.auth
	w.server, err = oauth.New(w.config)
	w.must(err)
	listener.Config.Handler = w.server.Handler()
	listener.Start()
	t.Cleanup(listener.Close)

	w.seed()
	return w
}

// authenticator returns an authenticator with a cache of its own on the same stores, as
// another process would have.
func (w *world) authenticator() *bearer.Authenticator {
	return bearer.NewAuthenticator(bearer.AuthenticatorConfig{
		Stores: w.db.Access(), Orgs: w.db.Orgs(), Members: members.Ceilings{Members: w.db.Members()},
		Tokens: w.verifier, Clock: w.clock,
	})
}

func (w *world) seed() {
	mine := w.org("mine")
	scopes := core.NewScopes("api.account.view", "api.contacts.view", "api.contacts.manage")
	w.live = w.register(mine, core.Live, scopes)
	w.test = w.register(mine, core.Test, scopes)
	w.revoked = w.register(mine, core.Live, scopes)
	w.must(w.db.Clients().RevokeClient(w.t.Context(), mine, w.revoked.ID, w.clock()))
	w.public = w.registerPublic(mine, scopes)
	w.app = w.application(mine, access.MintClientSecret().Secret, callback, callback+"?tenant=1")
	w.native = w.application(mine, "", loopback)
	w.ann = w.person(mine, "ann", members.Owner)
	w.other = w.register(w.org("other"), core.Live, core.NewScopes("api.lists.view"))
}

func (w *world) org(slug string) string {
	org := core.Org{ID: core.NewID(), Name: slug, Slug: slug, Tier: "team", RetentionDays: 90}
	w.must(w.db.Orgs().InsertOrg(w.t.Context(), org))
	return org.ID
}

func (w *world) register(orgID string, env core.Environment, scopes core.Scopes) registeredClient {
	minted := access.MintClientSecret()
	c := access.Client{
		ID: core.NewID(), ClientID: access.MintClientID(env), OrgID: orgID, Name: "client", Environment: env,
		SecretHash: minted.Hash, Scopes: scopes, CreatedAt: w.clock(),
	}
	w.must(w.db.Clients().InsertClient(w.t.Context(), c))
	return registeredClient{Client: c, secret: minted.Secret}
}

func (w *world) registerPublic(orgID string, scopes core.Scopes) registeredClient {
	c := access.Client{
		ID: core.NewID(), ClientID: access.MintClientID(core.Live), OrgID: orgID, Name: "public", Environment: core.Live,
		Scopes: scopes, CreatedAt: w.clock(),
	}
	w.must(w.db.Clients().InsertClient(w.t.Context(), c))
	return registeredClient{Client: c}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// answer is an HTTP response with its whole body, and the members of a JSON body from the
// token endpoint.
type answer struct {
	status int
	header http.Header
	body   string

	AccessToken      string  `json:"access_token"`
	RefreshToken     *string `json:"refresh_token"`
	TokenType        string  `json:"token_type"`
	ExpiresIn        int     `json:"expires_in"`
	Scope            *string `json:"scope"`
	Error            string  `json:"error"`
	ErrorDescription string  `json:"error_description"`
	ErrorURI         string  `json:"error_uri"`
}

func (w *world) do(r *http.Request) answer {
	w.t.Helper()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	w.must(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	w.must(err)
	a := answer{status: resp.StatusCode, header: resp.Header, body: string(body)}
	if len(body) > 0 && strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		w.must(json.Unmarshal(body, &a))
	}
	w.checkNothingInternal(a)
	return a
}

func (w *world) request(method, path, body string) *http.Request {
	w.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, w.issuer+path, strings.NewReader(body))
	w.must(err)
	return r
}

// token requests an access token by client_credentials, with HTTP Basic. pairs are names
// and values of additional parameters.
func (w *world) token(c registeredClient, pairs ...string) answer {
	w.t.Helper()
	values := url.Values{"grant_type": {"client_credentials"}}
	for i := 0; i < len(pairs); i += 2 {
		values.Add(pairs[i], pairs[i+1])
	}
	r := w.request(http.MethodPost, oauth.TokenPath, values.Encode())
	r.Header.Set("Content-Type", form)
	r.SetBasicAuth(c.ClientID, c.secret)
	return w.do(r)
}

// goodToken returns an access token by client_credentials. It fails the test if the request
// is refused.
func (w *world) goodToken(c registeredClient, pairs ...string) string {
	w.t.Helper()
	a := w.token(c, pairs...)
	if a.status != http.StatusOK || a.AccessToken == "" {
		w.t.Fatalf("no token: %d %s", a.status, a.body)
	}
	return a.AccessToken
}

func (w *world) expectError(a answer, status int, code string) {
	w.t.Helper()
	if a.status != status || a.Error != code {
		w.t.Errorf("got %d %s, want %d %s", a.status, a.body, status, code)
	}
	if a.ErrorDescription == "" || strings.ContainsAny(a.ErrorDescription, `"\`) {
		w.t.Errorf("the description %q is empty or has characters that RFC 6749 section 5.2 excludes", a.ErrorDescription)
	}
	if a.header.Get("Cache-Control") != "no-store" {
		w.t.Errorf("Cache-Control %q on an error", a.header.Get("Cache-Control"))
	}
	if (a.status == http.StatusUnauthorized) != strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Basic ") {
		w.t.Errorf("%d with WWW-Authenticate %q", a.status, a.header.Get("WWW-Authenticate"))
	}
	if a.header.Get("X-Request-Id") == "" {
		w.t.Error("no X-Request-Id")
	}
}

// internalWords must not occur in an error answer: names of internal components and texts
// of internal errors.
var internalWords = []string{
	"sql", "store", "database", "zitadel", "eof", "goroutine", "panic", "jose", ".go:", "errortype", "parent", "unmarshal", "strconv",
}

func (w *world) checkNothingInternal(a answer) {
	w.t.Helper()
	if a.status < 400 {
		return
	}
	for _, word := range internalWords {
		if strings.Contains(strings.ToLower(a.body), word) {
			w.t.Errorf("the answer %q holds the internal word %q", a.body, word)
		}
	}
}

// claimsOf decodes one part of an access token without verifying it. Part 0 is the header,
// part 1 has the claims.
func (w *world) claimsOf(token string, part int) map[string]any {
	w.t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[part])
	w.must(err)
	var m map[string]any
	w.must(json.Unmarshal(raw, &m))
	return m
}
