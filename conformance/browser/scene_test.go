package browser_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }

// scene is a running product with an OAuth application. A web server on the loopback acts
// as the application. When a browser requests the application's callback, the server sends
// the query parameters to the channel brought.
type scene struct {
	t       *testing.T
	p       *product.Product
	client  access.Client
	address string
	brought chan url.Values
}

// challenge is the PKCE code challenge (S256) of RFC 7636 appendix B.
const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

// newScene starts a product with these options, and the web server of the application. In full
// runs the product is on PostgreSQL, in others on SQLite.
func newScene(t *testing.T, options product.Options) *scene {
	t.Helper()
	options.Postgres = enginetest.Full()
	s := &scene{t: t, p: product.Start(t, options), brought: make(chan url.Values, 8)}
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/callback" {
			s.brought <- r.URL.Query()
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><title>Back</title><link rel="icon" href="data:,"><p>Back in the application</p>`)
	}))
	t.Cleanup(receiver.Close)
	s.address = receiver.URL + "/callback"
	s.client = access.Client{
		ID: core.NewID(), ClientID: access.MintClientID(core.Live), OrgID: s.p.OrgID, Name: "Courier for teams", Environment: core.Live,
		Scopes:       core.NewScopes("api.account.view", "api.lists.view", "api.contacts.view", "api.contacts.manage"),
		RedirectURIs: []string{s.address}, CreatedAt: s.p.Clock.Now(),
	}
	if err := s.p.DB.Clients().InsertClient(t.Context(), s.client); err != nil {
		t.Fatal(err)
	}
	return s
}

// question returns the address at which the application asks the person for consent
// (/oauth/authorize).
func (s *scene) question() string {
	return s.p.AppURL + "/oauth/authorize?" + url.Values{
		"response_type": {"code"}, "client_id": {s.client.ClientID}, "redirect_uri": {s.address}, "state": {"süß&x"},
		"code_challenge": {challenge}, "code_challenge_method": {"S256"},
	}.Encode()
}

// signIn fills in and submits the sign-in form that the tab shows.
func (s *scene) signIn(tab *browser.Tab) {
	s.t.Helper()
	tab.Fill("#email", s.p.UserEmail)
	tab.Fill("#password", s.p.UserPassword)
	tab.Submit("form[action='/login'] button")
}

// join makes the product's user an owner of the second organization too.
func (s *scene) join() {
	s.t.Helper()
	user, err := s.p.DB.Users().UserByEmail(s.t.Context(), s.p.UserEmail)
	if err == nil {
		err = s.p.DB.Members().SetMember(s.t.Context(), members.Member{OrgID: s.p.Other.OrgID, UserID: user.ID, Role: members.Owner})
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// expectCallback checks the query parameters with which the browser reached the
// application's callback. The parameter named by present must exist, and the one named by
// absent must not. The value of the parameter "error" must equal failure.
func (s *scene) expectCallback(tab *browser.Tab, present, absent, failure string) {
	s.t.Helper()
	tab.Expect(http.StatusOK, "Back in the application")
	select {
	case got := <-s.brought:
		if !got.Has(present) || got.Has(absent) || got.Get("state") != "süß&x" || got.Get("iss") != s.p.AuthURL || got.Get("error") != failure {
			s.t.Errorf("brought %v", got)
		}
	default:
		s.t.Error("the browser has brought nothing")
	}
}

// withAndWithoutScripts runs a test twice, with and without scripts, because every page has
// to work without scripts.
func withAndWithoutScripts(t *testing.T, test func(t *testing.T, s *scene, tab *browser.Tab)) {
	t.Helper()
	for name, opts := range map[string]browser.Options{"with scripts": {}, "without scripts": {NoScript: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newScene(t, product.Options{}), browser.Open(t, opts))
		})
	}
}
