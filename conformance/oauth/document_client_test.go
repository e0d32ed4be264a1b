package oauth_test

import (
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
)

// documentHost serves the metadata document of one OAuth client over TLS on the loopback.
// It counts how often the document is read.
type documentHost struct {
	id string

	mu      sync.Mutex
	members map[string]any
	reads   int
}

func newDocumentHost(t *testing.T) *documentHost {
	t.Helper()
	h := &documentHost{}
	server := httptest.NewTLSServer(h)
	t.Cleanup(server.Close)
	h.id = server.URL + "/client.json"
	h.setMembers("client_name", "Helpful Agent", "redirect_uris", []string{loopback}, "scope", "api.lists.view api.contacts.view")
	return h
}

// trusted returns a certificate pool with which the product trusts every documentHost.
func trusted(t *testing.T) *x509.CertPool {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return pool
}

// setMembers sets members of the metadata document, given in pairs of name and value.
func (h *documentHost) setMembers(pairs ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.members == nil {
		h.members = map[string]any{"client_id": h.id}
	}
	for i := 0; i < len(pairs); i += 2 {
		h.members[pairs[i].(string)] = pairs[i+1]
	}
}

func (h *documentHost) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reads
}

func (h *documentHost) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reads++
	w.Header().Set("Content-Type", "application/json")
	// if encoding fails, the product cannot read the document, which fails the test
	_ = json.NewEncoder(w).Encode(h.members)
}

// guest is a person's browser at a product, with an OAuth client that belongs to no
// organization.
type guest struct {
	*visit
	clientID, secret string
}

func (g *guest) question() string {
	return g.p.AppURL + "/oauth/authorize?" + query(registeredClient{Client: access.Client{ClientID: g.clientID, RedirectURIs: []string{loopback}}})
}

// tokenPair is an answer of the token endpoint: two tokens, or an error code.
type tokenPair struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
	Scope   string `json:"scope"`
	Error   string `json:"error"`
}

// authorized approves the client as the person, redeems the code and returns the tokens.
func (g *guest) authorized() tokenPair {
	g.t.Helper()
	back, err := url.Parse(g.allow(g.question()))
	if err != nil || !back.Query().Has("code") {
		g.t.Fatalf("back to %s, %v", back, err)
	}
	return g.token(http.StatusOK, "grant_type", "authorization_code", "code", back.Query().Get("code"), "redirect_uri", loopback, "code_verifier", verifier)
}

func (g *guest) refreshed(status int, old tokenPair) tokenPair {
	g.t.Helper()
	return g.token(status, "grant_type", "refresh_token", "refresh_token", old.Refresh)
}

func (g *guest) token(status int, pairs ...string) tokenPair {
	g.t.Helper()
	values := url.Values{"client_id": {g.clientID}}
	if g.secret != "" {
		values.Set("client_secret", g.secret)
	}
	for i := 0; i < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	_, body := g.send(status, g.p.AuthURL+"/oauth/token", values)
	var tokens tokenPair
	if err := json.Unmarshal([]byte(body), &tokens); err != nil || status == http.StatusOK && (tokens.Access == "" || tokens.Refresh == "") {
		g.t.Fatalf("token answer %s, %v", body, err)
	}
	return tokens
}

// calls sends a GET request for a list of the API, such as "lists" or "contacts", with the
// access token. It checks the status of the answer.
func (g *guest) calls(status int, what string, with tokenPair) {
	g.t.Helper()
	g.do(status, http.MethodGet, g.p.BaseURL+"/v1/"+what, http.NoBody, "Authorization", "Bearer "+with.Access)
}

// blocking returns the operations that block and unblock clients, on the product's
// database.
func blocking(p *product.Product) access.Lifecycle {
	return access.Lifecycle{
		Stores: p.DB.Access(), Orgs: p.DB.Orgs(), Transactor: p.DB, Clock: p.Clock.Now,
	}
}

// switchTo makes the organization with this id the current organization of the browser's
// session. The person must be a member of it.
func (g *guest) switchTo(orgID string) {
	g.t.Helper()
	g.send(http.StatusSeeOther, g.p.AppURL+"/switch-org", url.Values{"org_id": {orgID}})
}

// addOwnedOrg makes the product's user an owner of another organization.
func (g *guest) addOwnedOrg(orgID string) {
	g.t.Helper()
	user, err := g.p.DB.Users().UserByEmail(g.t.Context(), g.p.UserEmail)
	if err == nil {
		err = g.p.DB.Members().AddMember(g.t.Context(), orgID, user.ID, string(members.Owner))
	}
	if err != nil {
		g.t.Fatal(err)
	}
}

func documentClients(t *testing.T, test func(t *testing.T, g *guest, h *documentHost)) {
	t.Helper()
	product.OnceWith(t, product.Options{ClientDocumentCAs: trusted(t), Log: &logged}, func(t *testing.T, p *product.Product) {
		h := newDocumentHost(t)
		test(t, &guest{visit: newVisit(t, p), clientID: h.id}, h)
	})
}

// TestDocumentClientIsLetIn checks the flow of a client that is known only by the address
// of its metadata document, up to a call of the API. The server must read the document only
// once.
func TestDocumentClientIsLetIn(t *testing.T) {
	t.Parallel()
	documentClients(t, func(t *testing.T, g *guest, h *documentHost) {
		if location, _ := g.send(http.StatusSeeOther, g.question(), nil); !strings.HasPrefix(location, "/login?") || h.count() != 0 {
			t.Errorf("a stranger is sent to %s after %d reads", location, h.count())
		}
		if _, err := g.p.DB.Clients().Client(t.Context(), h.id); err == nil {
			t.Error("a client that nobody let in is stored")
		}
		g.signIn(g.question())
		_, page := g.send(http.StatusOK, g.question(), nil)
		host := strings.TrimSuffix(strings.TrimPrefix(h.id, "https://"), "/client.json")
		for _, want := range []string{"an application of <bdi>" + host + "</bdi>", "calls itself <bdi>Helpful Agent</bdi>", "Only the host is verified", "any program on it could receive the answer"} {
			if !strings.Contains(page, want) {
				t.Errorf("the page lacks %q", want)
			}
		}
		tokens := g.authorized()
		g.calls(http.StatusOK, "lists", tokens)
		next := g.refreshed(http.StatusOK, tokens)
		g.calls(http.StatusOK, "contacts", next)
		if refused := g.token(http.StatusBadRequest, "grant_type", "client_credentials"); refused.Error != "unauthorized_client" {
			t.Errorf("client_credentials: %+v", refused)
		}
		g.p.Clock.Advance(25 * time.Hour) // after this time the document is no longer cached
		g.refreshed(http.StatusOK, next)
		g.send(http.StatusOK, g.p.AuthURL+"/oauth/revoke", url.Values{"client_id": {h.id}, "token": {next.Access}})
		if h.count() != 1 {
			t.Errorf("the document was read %d times", h.count())
		}
		for what, secret := range map[string]string{"access token": tokens.Access, "refresh token": next.Refresh} {
			if text := logged.String(); strings.Contains(text, secret) || !strings.Contains(text, h.id) {
				t.Errorf("the log holds the %s, or not the client", what)
			}
		}
	})
}

// TestDocumentChanges checks that the next authorization uses the current scopes and
// redirect URIs of a changed metadata document.
func TestDocumentChanges(t *testing.T) {
	t.Parallel()
	documentClients(t, func(t *testing.T, g *guest, h *documentHost) {
		tokens := g.authorized()
		h.setMembers("scope", "api.lists.view")
		g.p.Clock.Advance(61 * time.Minute)
		tokens = g.refreshed(http.StatusOK, tokens)
		g.calls(http.StatusOK, "contacts", tokens) // the server has not read the changed document yet
		if _, page := g.send(http.StatusOK, g.question(), nil); strings.Contains(page, "api.contacts.view") || !strings.Contains(page, "api.lists.view") {
			t.Error("the page asks for what the document does not declare")
		}
		g.p.Clock.Advance(5 * time.Second)
		g.calls(http.StatusOK, "lists", tokens)
		g.calls(http.StatusForbidden, "contacts", tokens)
		if narrowed := g.refreshed(http.StatusOK, tokens); narrowed.Scope != "api.lists.view" {
			t.Errorf("refreshed for %q", narrowed.Scope)
		}

		h.setMembers("redirect_uris", []string{"http://localhost/elsewhere"})
		g.p.Clock.Advance(61 * time.Minute)
		if location, page := g.send(http.StatusBadRequest, g.question(), nil); location != "" || !strings.Contains(page, "not registered for it") {
			t.Errorf("a redirect URI that was removed: %s %s", location, page)
		}
		h.setMembers("client_id", "https://other.example/client.json")
		g.p.Clock.Advance(61 * time.Minute)
		g.send(http.StatusBadRequest, g.question(), nil)
	})
}

// TestBlockedDocumentClient checks that blocking a client in one organization ends only the
// grants of that organization. Unblocking the client must not restore those grants.
func TestBlockedDocumentClient(t *testing.T) {
	t.Parallel()
	documentClients(t, func(t *testing.T, g *guest, h *documentHost) { g.blockAndUnblock() })
}

func (g *guest) blockAndUnblock() {
	g.t.Helper()
	ctx, p, t := g.t.Context(), g.p, g.t
	mine := g.authorized()
	g.addOwnedOrg(p.Other.OrgID)
	g.switchTo(p.Other.OrgID)
	theirs := g.authorized()
	g.calls(http.StatusOK, "lists", mine)

	operator := access.ActorOf(access.Operator)
	if err := blocking(p).BlockClient(ctx, operator, p.OrgID, g.clientID); err != nil {
		t.Fatal(err)
	}
	p.Clock.Advance(5 * time.Second)
	g.calls(http.StatusUnauthorized, "lists", mine)
	g.calls(http.StatusOK, "lists", theirs)
	if refused := g.refreshed(http.StatusBadRequest, mine); refused.Error != "invalid_grant" {
		t.Errorf("refresh: %+v", refused)
	}
	theirs = g.refreshed(http.StatusOK, theirs)
	g.send(http.StatusOK, g.question(), nil)
	g.switchTo(p.OrgID)
	if _, page := g.send(http.StatusForbidden, g.question(), nil); !strings.Contains(page, "has blocked this application") {
		t.Errorf("the page of a blocked client: %s", page)
	}

	if err := blocking(p).UnblockClient(ctx, operator, p.OrgID, g.clientID); err != nil {
		t.Fatal(err)
	}
	p.Clock.Advance(5 * time.Second)
	g.calls(http.StatusUnauthorized, "lists", mine)
	g.refreshed(http.StatusBadRequest, mine)
	g.calls(http.StatusOK, "lists", g.authorized())
	g.calls(http.StatusOK, "lists", theirs)

	events, err := p.DB.Audit().FindAudit(ctx, p.OrgID, access.AuditFilter{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, e := range events {
		if e.ActorKind == access.Operator && strings.Contains(e.Detail, g.clientID) {
			seen[e.Action]++
		}
	}
	if seen["oauth_client.blocked"] != 1 || seen["oauth_client.unblocked"] != 1 {
		t.Errorf("the audit log holds %v", seen)
	}
}

// TestApprovalOfABlockedClient checks that an approval is refused if the client was blocked
// after the consent page was shown.
func TestApprovalOfABlockedClient(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		open := access.Client{
			ID: core.NewID(), ClientID: access.MintClientID(core.Live), Name: "self", Environment: core.Live, Kind: access.DynamicClient,
			Scopes: core.AllScopes(), RedirectURIs: []string{callback}, RefreshDays: 30, CreatedAt: w.clock(),
		}
		w.must(w.db.Clients().InsertClient(t.Context(), open))
		request := w.authorization(registeredClient{Client: open})
		w.must(w.db.OpenClients().BlockClient(t.Context(), w.ann.OrgID, open.ClientID, w.clock()))
		if _, err := w.server.Approve(t.Context(), request, w.ann, core.AllScopes()); err == nil || core.AsError(err).Code != core.CodeConflict {
			t.Errorf("approved: %v", err)
		}
	})
}
