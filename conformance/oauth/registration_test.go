package oauth_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/access"
)

// registration is an answer of the endpoint for dynamic client registration.
type registration struct {
	status int
	header http.Header
	body   string

	ClientID      string   `json:"client_id"`
	IssuedAt      int64    `json:"client_id_issued_at"`
	Secret        string   `json:"client_secret"`
	SecretExpires *int64   `json:"client_secret_expires_at"`
	Name          string   `json:"client_name"`
	RedirectURIs  []string `json:"redirect_uris"`
	GrantTypes    []string `json:"grant_types"`
	AuthMethod    string   `json:"token_endpoint_auth_method"`
	Scope         string   `json:"scope"`
	Error         string   `json:"error"`
	Description   string   `json:"error_description"`
}

func register(t *testing.T, p *product.Product, metadata string, headers ...string) registration {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.AuthURL+"/oauth/register", strings.NewReader(metadata))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := p.HTTP.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := registration{status: resp.StatusCode, header: resp.Header, body: string(body)}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(body, &a); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

const plainMetadata = `{"client_name":" Self\u202e made ","redirect_uris":["http://127.0.0.1/cb"],"scope":"api.lists.view","logo_uri":"x"}`

// TestRegisteredByItself checks that a person can approve a client that registered itself,
// and that an organization can block it. A client that is not approved must be deleted
// within 25 hours.
func TestRegisteredByItself(t *testing.T) {
	t.Parallel()
	product.OnceWith(t, product.Options{DynamicRegistration: true, Log: &logged}, func(t *testing.T, p *product.Product) {
		before := p.Clock.Now().Unix() // the product's clock runs
		a := register(t, p, plainMetadata)
		if a.status != http.StatusCreated || a.header.Get("Cache-Control") != "no-store" || a.header.Get("Access-Control-Allow-Origin") != "*" {
			t.Fatalf("%d %s %v", a.status, a.body, a.header)
		}
		if !strings.HasPrefix(a.ClientID, "oc_live_") || !strings.HasPrefix(a.Secret, "ocs_") || a.SecretExpires == nil || *a.SecretExpires != 0 ||
			a.IssuedAt < before || a.IssuedAt > p.Clock.Now().Unix() || a.Name != "Self made" || a.AuthMethod != "client_secret_basic" || a.Scope != "api.lists.view" ||
			strings.Join(a.GrantTypes, " ") != "authorization_code refresh_token" || strings.Join(a.RedirectURIs, " ") != loopback {
			t.Errorf("registered as %s", a.body)
		}
		public := register(t, p, `{"redirect_uris":["http://localhost/cb"],"token_endpoint_auth_method":"none","grant_types":["authorization_code"],"response_types":["code"]}`)
		if public.status != http.StatusCreated || public.Secret != "" || public.SecretExpires != nil || public.Name != "localhost" {
			t.Errorf("a public client: %d %s", public.status, public.body)
		}

		g := &guest{visit: newVisit(t, p), clientID: a.ClientID, secret: a.Secret}
		g.signIn(g.question())
		if _, page := g.send(http.StatusOK, g.question(), nil); !strings.Contains(page, "an unverified application") || !strings.Contains(page, "registered itself") {
			t.Error("the page does not say that nothing is verified")
		}
		g.blockAndUnblock()
		if refused := g.token(http.StatusBadRequest, "grant_type", "client_credentials"); refused.Error != "unauthorized_client" {
			t.Errorf("client_credentials: %+v", refused)
		}
		g.secret = access.MintClientSecret().Secret
		if refused := g.token(http.StatusUnauthorized, "grant_type", "client_credentials"); refused.Error != "invalid_client" {
			t.Errorf("another secret: %+v", refused)
		}
		if text := logged.String(); strings.Contains(text, a.Secret) || !strings.Contains(text, a.ClientID) {
			t.Error("the log holds the secret, or not the client")
		}

		p.Clock.Advance(25 * time.Hour)
		purge := access.PurgeWorker(p.DB.Access(), p.Clock.Now, logger)
		if err := purge.Work(t.Context(), access.PurgeArgs{}); err != nil {
			t.Fatal(err)
		}
		for id, kept := range map[string]bool{a.ClientID: true, public.ClientID: false} {
			if _, err := p.DB.Clients().Client(t.Context(), id); (err == nil) != kept {
				t.Errorf("%s a day later: %v", id, err)
			}
		}
	})
}

func TestRegistrationsThatAreRefused(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{DynamicRegistration: true})
	const good = `"redirect_uris":["https://app.example/cb"]`
	for name, c := range map[string]struct {
		metadata, code string
		status         int
	}{
		"no redirect URI":    {`{}`, "invalid_redirect_uri", 400},
		"an empty list":      {`{"redirect_uris":[]}`, "invalid_redirect_uri", 400},
		"plain http":         {`{"redirect_uris":["http://app.example/cb"]}`, "invalid_redirect_uri", 400},
		"one of two":         {`{"redirect_uris":["https://app.example/cb","https://app.example/#"]}`, "invalid_redirect_uri", 400},
		"a private scheme":   {`{"redirect_uris":["app:/cb"]}`, "invalid_redirect_uri", 400},
		"21 redirect URIs":   {`{"redirect_uris":["https://a.example/"` + strings.Repeat(`,"https://a.example/"`, 20) + `]}`, "invalid_redirect_uri", 400},
		"no JSON":            {`{`, "invalid_client_metadata", 400},
		"an array":           {`[]`, "invalid_client_metadata", 400},
		"nothing":            {``, "invalid_client_metadata", 400},
		"a member twice":     {`{` + good + `,"client_name":"a","client_name":"b"}`, "invalid_client_metadata", 400},
		"two values":         {`{` + good + `}{}`, "invalid_client_metadata", 400},
		"a wrong type":       {`{"redirect_uris":"https://app.example/cb"}`, "invalid_client_metadata", 400},
		"in capitals":        {`{"REDIRECT_URIS":["https://app.example/cb"]}`, "invalid_redirect_uri", 400},
		"a key as method":    {`{` + good + `,"token_endpoint_auth_method":"private_key_jwt"}`, "invalid_client_metadata", 400},
		"client_credentials": {`{` + good + `,"grant_types":["authorization_code","client_credentials"]}`, "invalid_client_metadata", 400},
		"only refresh":       {`{` + good + `,"grant_types":["refresh_token"]}`, "invalid_client_metadata", 400},
		"implicit":           {`{` + good + `,"response_types":["code","token"]}`, "invalid_client_metadata", 400},
		"an unknown scope":   {`{` + good + `,"scope":"api.lists.view openid"}`, "invalid_client_metadata", 400},
		"too large":          {`{` + good + `,"x":"` + strings.Repeat("x", 64<<10) + `"}`, "invalid_client_metadata", 413},
	} {
		a := register(t, p, c.metadata)
		if a.status != c.status || a.Error != c.code || a.Description == "" || strings.ContainsAny(a.Description, `"\`) || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	for _, kind := range []string{"application/x-www-form-urlencoded", "text/json", ""} {
		if a := register(t, p, `{`+good+`}`, "Content-Type", kind); a.status != http.StatusBadRequest {
			t.Errorf("content type %q: %d", kind, a.status)
		}
	}
}

// TestRegistrationIsThrottled checks that one network can register 20 clients, and then one
// more every three minutes.
func TestRegistrationIsThrottled(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{DynamicRegistration: true})
	p.Clock.Freeze(start)
	for i := range 20 {
		if a := register(t, p, plainMetadata); a.status != http.StatusCreated {
			t.Fatalf("number %d: %d %s", i+1, a.status, a.body)
		}
	}
	a := register(t, p, plainMetadata, "X-Forwarded-For", "203.0.113.7")
	if a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") != "180" || a.Error == "" {
		t.Errorf("number 21: %d %s, Retry-After %q", a.status, a.body, a.header.Get("Retry-After"))
	}
	p.Clock.Freeze(start.Add(3 * time.Minute))
	if a := register(t, p, plainMetadata); a.status != http.StatusCreated {
		t.Errorf("three minutes later: %d %s", a.status, a.body)
	}
}

func TestRegistrationIsOffByDefault(t *testing.T) {
	t.Parallel()
	for on, status := range map[bool]int{false: http.StatusNotFound, true: http.StatusCreated} {
		p := product.Start(t, product.Options{DynamicRegistration: on})
		if a := register(t, p, plainMetadata); a.status != status {
			t.Errorf("on %v: %d", on, a.status)
		}
		_, metadata := newVisit(t, p).send(http.StatusOK, p.AuthURL+"/.well-known/oauth-authorization-server", nil)
		if strings.Contains(metadata, `"registration_endpoint": "`+p.AuthURL+`/oauth/register"`) != on || strings.Contains(metadata, "registration_endpoint") != on {
			t.Errorf("on %v: %s", on, metadata)
		}
		if !strings.Contains(metadata, `"client_id_metadata_document_supported": true`) {
			t.Errorf("the metadata does not promise metadata documents: %s", metadata)
		}
	}
}
