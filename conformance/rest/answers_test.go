package rest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// TestRateHeadersAreOnEveryAnswer checks that every answer to a caller with a valid
// credential has the RateLimit-* headers, whatever the status. An answer to a caller
// without a valid credential must not have them.
func TestRateHeadersAreOnEveryAnswer(t *testing.T) {
	t.Parallel()
	limit := 60
	a := start(t, product.Options{RateLimit: &limit})
	a.Clock.Freeze(a.Clock.Now())
	path := "/v1/contacts/" + a.Contact
	for i, call := range []struct {
		caller               *api
		method, target, body string
		status               int
		fault                sending.FailureKind
	}{
		{a, "GET", "/v1/account", "", 200, ""},
		{a, "POST", "/v1/contacts", `{"email":"rate@example.com"}`, 201, ""},
		{a, "DELETE", "/v1/contacts/nobody%40example.com", "", 204, ""},
		{a, "GET", "/v1/contacts/nobody%40example.com", "", 404, ""},
		{a, "POST", "/v1/contacts", `{"email":"rate@example.com"}`, 409, ""},
		{a, "POST", "/v1/contacts", `{`, 422, ""},
		{a.as(a.mint(t)), "GET", "/v1/account", "", 403, ""},
		{a, "GET", path, "", 503, sending.Throttled},
		{a, "GET", path, "", 504, sending.TimedOut},
	} {
		if call.fault != "" {
			a.Simulator.Faults().Set(simulator.Fault{Kind: call.fault, Times: 1})
		}
		got := call.caller.do(t, call.method, call.target, call.body).want(call.status)
		checkRate(t, got, limit, limit-i-1, 60)
	}
	test := a.as(a.Test.APIKey).do(t, "DELETE", path, "")
	test.refused(403, core.CodeTestEnvironmentForbidden)
	checkRate(t, test, 6, 5, 60)
	for _, stranger := range []string{"", "sk_live_unknown"} {
		if h := a.as(stranger).do(t, "GET", "/v1/account", "").want(401).header; h.Get("RateLimit-Limit") != "" {
			t.Errorf("a stranger is told a limit: %v", h)
		}
	}
}

// TestEveryErrorCodeHasItsPage checks that the documentation has a page at
// /api/errors/{code} for each error code.
func TestEveryErrorCodeHasItsPage(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	for _, info := range core.Codes() {
		address := p.DocsURL + "/api/errors/" + string(info.Code)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.HTTP.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(got.Body)
		if err != nil {
			t.Fatal(err)
		}
		got.Body.Close()
		if got.StatusCode != 200 || !strings.HasPrefix(got.Header.Get("Content-Type"), "text/html") || !strings.Contains(string(body), string(info.Code)) {
			t.Errorf("%s: %d %s", address, got.StatusCode, got.Header.Get("Content-Type"))
		}
	}
}

// TestOneRouteAnswers400 checks that in the OpenAPI document only POST
// /v1/contacts/identify can answer 400 (for a call that identifies no contact). All other
// routes answer 422 to invalid requests. No error code with the status 422 may be marked as
// retryable.
func TestOneRouteAnswers400(t *testing.T) {
	t.Parallel()
	a := start(t, product.Options{})
	var document struct {
		Paths map[string]map[string]struct {
			Responses map[string]any
		}
	}
	if err := json.Unmarshal(a.description.raw, &document); err != nil {
		t.Fatal(err)
	}
	var with []string
	for path, operations := range document.Paths {
		for method, operation := range operations {
			if _, has := operation.Responses["400"]; has {
				with = append(with, method+" "+path)
			}
		}
	}
	if len(with) != 1 || with[0] != "post /v1/contacts/identify" {
		t.Errorf("400 is an answer of %v", with)
	}
	for _, info := range core.Codes() {
		if info.Status == http.StatusUnprocessableEntity && info.Retryable {
			t.Errorf("%s invites a repetition that is refused again", info.Code)
		}
	}
}
