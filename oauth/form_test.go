package oauth

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
)

func TestFormKeepsOnlyWhatIsRead(t *testing.T) {
	t.Parallel()
	form, refused := parseForm("grant_type=client_credentials&scope=&resource=a&resource=&resource=b&audience=x&code=y&z=1")
	if refused != nil {
		t.Fatal(refused.err)
	}
	if len(form) != 3 || form.Get("code") != "y" || form.Get("grant_type") != "client_credentials" || !slices.Equal(form["resource"], []string{"a", "b"}) {
		t.Errorf("%v", form)
	}
}

// FuzzTokenRequest checks that no body or Authorization header makes the checks of a token
// request panic. What the checks accept must follow the endpoint's rules, and every error
// must have a valid description.
func FuzzTokenRequest(f *testing.F) {
	for _, seed := range [][2]string{
		{"grant_type=client_credentials&client_id=oc_live_a&client_secret=ocs_b", ""},
		{"grant_type=client_credentials&scope=api.lists.view+", "Basic b2NfbGl2ZV9hOm9jc19i"},
		{"resource=http://a&resource=http://b#c", "Basic Og=="},
		{"a=%00&b=\xff&;=", "basic"},
		{"scope=api.x&scope=api.y", "Bearer x"},
	} {
		f.Add(seed[0], seed[1])
	}
	known := targets{api: "http://localhost:8080", agent: "http://localhost:8082"}
	f.Fuzz(func(t *testing.T, body, authorization string) {
		form, refused := parseForm(body)
		if refused != nil {
			checkRefusal(t, refused)
			return
		}
		for name, values := range form {
			if !slices.Contains(parameters, name) || len(values) > 1 && name != "resource" || slices.Contains(values, "") {
				t.Fatalf("%q let pass as %q", name, values)
			}
		}
		var headers []string
		if authorization != "" {
			headers = []string{authorization}
		}
		clientID, refused := checkClientAuthentication(headers, form)
		if refused == nil && clientID == "" {
			t.Fatal("a request without a client was let pass")
		}
		checkRefusal(t, refused)
		scopes, refused := grantedScopes(form.Get("scope"), core.AllScopes())
		if refused == nil && len(scopes) == 0 {
			t.Fatal("no scope granted to a client that has all")
		}
		checkRefusal(t, refused)
		_, refused = known.requestedResource(form["resource"])
		checkRefusal(t, refused)
	})
}

// checkRefusal checks that an error has a 4xx or 5xx status and a code, and that its
// description has only the characters of RFC 6749 section 5.2.
func checkRefusal(t *testing.T, r *refusal) {
	t.Helper()
	if r == nil {
		return
	}
	if r.status < 400 || r.code() == "" || r.err.Description == "" {
		t.Fatalf("refusal %d %+v", r.status, r.err)
	}
	if strings.ContainsFunc(r.err.Description, func(c rune) bool { return c < 0x20 || c > 0x7e || c == '"' || c == '\\' }) {
		t.Fatalf("description %q", r.err.Description)
	}
}

func TestRefusalRevealsNothingOfTheLibrary(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*refusal{
		"invalid_request":        invalidRequest("100% wrong"),
		"invalid_client":         invalidClient("x"),
		"invalid_scope":          invalidScope("x"),
		"invalid_target":         invalidTarget("x"),
		"unauthorized_client":    unauthorizedClient("x"),
		"unsupported_grant_type": unsupportedGrantType("x"),
		"server_error":           serverError(http.ErrServerClosed),
	} {
		if r.code() != name {
			t.Errorf("%s: code %s", name, r.code())
		}
		body, err := r.err.MarshalJSON()
		if err != nil || strings.Contains(string(body), "closed") || strings.Contains(string(body), "MISSING") {
			t.Errorf("%s: %s, %v", name, body, err)
		}
	}
}
