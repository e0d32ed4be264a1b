package rest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// api is a caller of the public API of one running product.
type api struct {
	*product.Product
	description *description
	// credential is the bearer credential in the header Authorization; "" sends no such
	// header.
	credential string
}

func start(t testing.TB, opts product.Options) *api {
	t.Helper()
	p := product.Start(t, opts)
	return on(t, p)
}

// on returns an API client for a running product. Its credential is the live API key of the
// demo organization.
func on(t testing.TB, p *product.Product) *api {
	t.Helper()
	return &api{Product: p, description: describe(t, p), credential: p.Live.APIKey}
}

// as returns a copy of the caller with another credential.
func (a *api) as(credential string) *api {
	other := *a
	other.credential = credential
	return &other
}

// mint creates a live API key of the demo organization with exactly these scopes, and
// returns the key.
func (a *api) mint(t testing.TB, scopes ...core.Scope) string {
	t.Helper()
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	minted := access.MintAPIKey(core.Live)
	err := a.DB.Keys().InsertAPIKey(t.Context(), access.APIKey{
		ID: core.NewID(), OrgID: a.OrgID, Name: "test", Environment: core.Live, Prefix: minted.Prefix,
		SecretHash: minted.Hash, Scopes: core.NewScopes(names...), CreatedAt: a.Clock.Now(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return minted.Secret
}

// request returns an HTTP request. target is a path or a URL. headers are pairs of name and
// value; an empty value removes the header.
func (a *api) request(t testing.TB, method, target, body string, headers ...string) *http.Request {
	t.Helper()
	if strings.HasPrefix(target, "/") {
		target = a.BaseURL + target
	}
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, target, reader)
	if err != nil {
		t.Fatal(err)
	}
	if a.credential != "" {
		r.Header.Set("Authorization", "Bearer "+a.credential)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

// do sends a request and checks the response against the OpenAPI document.
func (a *api) do(t testing.TB, method, target, body string, headers ...string) *answer {
	t.Helper()
	return a.send(t, a.request(t, method, target, body, headers...))
}

func (a *api) send(t testing.TB, r *http.Request) *answer {
	t.Helper()
	got, err := product.Do(a.HTTP, r)
	if err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	ans := &answer{t: t, call: r.Method + " " + r.URL.EscapedPath(), docs: a.DocsURL, status: got.Status, header: got.Header, body: []byte(got.Body)}
	a.description.check(t, r, ans)
	return ans
}

type answer struct {
	t      testing.TB
	call   string
	docs   string
	status int
	header http.Header
	body   []byte
}

// want ends the test unless the response has the status.
func (a *answer) want(status int) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: status = %d, want %d: %.500s", a.call, a.status, status, a.body)
	}
	return a
}

func (a *answer) decode(into any) {
	a.t.Helper()
	if err := json.Unmarshal(a.body, into); err != nil {
		a.t.Fatalf("%s: %v: %.200s", a.call, err, a.body)
	}
}

// refused checks that the response is a problem document with the status and the error
// code. Its type must be the URL under which the documentation describes the error.
func (a *answer) refused(status int, code core.Code) core.Problem {
	a.t.Helper()
	a.want(status)
	var p core.Problem
	a.decode(&p)
	if p.Code != code || p.Type != a.docs+"/api/errors/"+string(code) || p.Detail == "" || p.NextStep == "" {
		a.t.Errorf("%s: problem = %+v, want %s", a.call, p, code)
	}
	return p
}

// contact has the members of a contact that the tests read.
type contact struct {
	ID               string         `json:"id"`
	Email            string         `json:"email"`
	Status           string         `json:"status"`
	Attributes       map[string]any `json:"attributes"`
	TopicPreferences []struct {
		Topic  string `json:"topic"`
		Status string `json:"subscription_status"`
	} `json:"topic_preferences"`
	UnsubscribeAll bool `json:"unsubscribe_all"`
	Lists          []struct {
		Key string `json:"key"`
	} `json:"lists"`
}

type contactPage struct {
	Data       []contact `json:"data"`
	Pagination struct {
		HasMore    bool    `json:"has_more"`
		NextCursor *string `json:"next_cursor"`
	} `json:"pagination"`
}

// contact decodes the body of the response as a contact.
func (a *answer) contact() contact {
	a.t.Helper()
	var c contact
	a.decode(&c)
	return c
}

// page decodes the body of the response as a page of contacts.
func (a *answer) page() contactPage {
	a.t.Helper()
	var p contactPage
	a.decode(&p)
	return p
}

// same reports whether two JSON texts are equal, apart from white space and the order of
// members.
func same(t testing.TB, one, other []byte) bool {
	t.Helper()
	a, errA := core.CanonicalJSON(one)
	b, errB := core.CanonicalJSON(other)
	if errA != nil || errB != nil {
		t.Fatalf("not JSON: %v, %v", errA, errB)
	}
	return bytes.Equal(a, b)
}
