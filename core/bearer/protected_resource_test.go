package bearer_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bearer"
)

func TestProtectedResourceDocument(t *testing.T) {
	t.Parallel()
	doc := bearer.NewProtectedResource("https://mcp.example.com", "https://auth.example.com", "Mailhelm agent endpoint",
		"https://app.example.com/docs", core.NewScopes("api.lists.view", "api.contacts.view"))
	body, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"resource":"https://mcp.example.com","authorization_servers":["https://auth.example.com"],` +
		`"scopes_supported":["api.contacts.view","api.lists.view"],"bearer_methods_supported":["header"],` +
		`"resource_name":"Mailhelm agent endpoint","resource_documentation":"https://app.example.com/docs"}`
	if diff := cmp.Diff(want, string(body)); diff != "" {
		t.Error(diff)
	}
}

func TestMetadataURLInsertsThePath(t *testing.T) {
	t.Parallel()
	for resource, want := range map[string]string{
		"https://api.example.com":      "https://api.example.com/.well-known/oauth-protected-resource",
		"https://api.example.com/":     "https://api.example.com/.well-known/oauth-protected-resource",
		"http://localhost:8082/mcp":    "http://localhost:8082/.well-known/oauth-protected-resource/mcp",
		"http://[::1]:8082/tenant/mcp": "http://[::1]:8082/.well-known/oauth-protected-resource/tenant/mcp",
	} {
		if got := (bearer.ProtectedResource{Resource: resource}).MetadataURL(); got != want {
			t.Errorf("%s: %s", resource, got)
		}
	}
}

func TestChallenge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		challenge bearer.Challenge
		want      string
	}{
		"no credential": {
			bearer.Challenge{Realm: "Mailhelm", Scope: "api.account.view", ResourceMetadata: "https://a.example/.well-known/x"},
			`Bearer realm="Mailhelm", scope="api.account.view", resource_metadata="https://a.example/.well-known/x"`,
		},
		"bad token": {
			bearer.Challenge{Realm: "Mailhelm", Error: "invalid_token", ErrorDescription: "It is no good."},
			`Bearer realm="Mailhelm", error="invalid_token", error_description="It is no good."`,
		},
		"quotes and backslashes": {
			bearer.Challenge{Realm: `a "b" \c`, ErrorDescription: `a "b" \c`},
			`Bearer realm="a \"b\" \\c", error_description="a 'b' /c"`,
		},
		"a header cannot be split": {
			bearer.Challenge{Realm: "a\r\nSet-Cookie: b", ErrorDescription: "ü\x00\tx"},
			`Bearer realm="aSet-Cookie: b", error_description="x"`,
		},
		"nothing": {bearer.Challenge{}, "Bearer"},
	} {
		if got := c.challenge.String(); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}
