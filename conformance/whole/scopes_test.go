package whole

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// holding is a set of scopes with which the tests call an operation. The field name appears
// in messages of failed tests.
type holding struct {
	name   string
	scopes core.Scopes
}

// scopeSets returns the sets of scopes with which to call the operation: no scope, exactly
// the required scopes, and all scopes. For each required scope there is a set without it.
// If an argument requires a further scope, there is a set with that scope alone, and one
// with the required scopes and that scope.
func (s subject) scopeSets() []holding {
	sets := []holding{{"no scope", nil}}
	for _, missing := range s.Scopes {
		others := slices.DeleteFunc(slices.Clone(s.Scopes), func(held core.Scope) bool { return held == missing })
		sets = append(sets, holding{"all it needs but " + string(missing), sortedScopes(others)})
	}
	for argument, scope := range s.ArgumentScopes {
		sets = append(sets,
			holding{"only the scope of " + argument, core.NewScopes(string(scope))},
			holding{"exactly what it needs with " + argument, sortedScopes(append(slices.Clone(s.Scopes), scope))})
	}
	return append(sets, holding{"exactly what it needs", sortedScopes(s.Scopes)}, holding{"every scope", core.AllScopes()})
}

func sortedScopes(scopes []core.Scope) core.Scopes {
	return core.NewScopes(core.Scopes(scopes).Strings()...)
}

// credentialsWith stores a client and an API key of the organization with exactly these
// scopes, and returns their credentials.
func credentialsWith(t *testing.T, p *product.Product, orgID string, env core.Environment, scopes core.Scopes) product.Credentials {
	t.Helper()
	client := access.MintClientSecret()
	key := access.MintAPIKey(env)
	c := access.Client{
		ID: core.NewID(), ClientID: access.MintClientID(env), OrgID: orgID, Name: "Scopes", Environment: env,
		SecretHash: client.Hash, Scopes: scopes, Kind: access.RegisteredClient, CreatedAt: p.Clock.Now(),
	}
	if err := p.DB.Clients().InsertClient(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	k := access.APIKey{
		ID: core.NewID(), OrgID: orgID, Name: "Scopes", Environment: env,
		Prefix: key.Prefix, SecretHash: key.Hash, Scopes: scopes, CreatedAt: p.Clock.Now(),
	}
	if err := p.DB.Keys().InsertAPIKey(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	return product.Credentials{ClientID: c.ClientID, ClientSecret: client.Secret, APIKey: key.Secret}
}

// TestCallableIfAndOnlyIfAllowed calls each tool and route with live and test credentials
// and different scopes. It checks that a tool is listed if and only if it can be called.
// Every refusal must name the missing scope and the required ones. An argument that
// requires a scope must be allowed if and only if the caller has it.
func TestCallableIfAndOnlyIfAllowed(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		for _, env := range []core.Environment{core.Live, core.Test} {
			callers := map[string]caller{} // key: the scopes, separated by spaces
			for _, s := range subjects() {
				if s.Name == "bundles_export" {
					s.Scopes = []core.Scope{core.AttributesView} // it needs one of several: TestExportByScope
				}
				if s.Name == "bundles_import" {
					continue // its scopes follow from its content: TestImportByScope
				}
				for _, h := range s.scopeSets() {
					known := strings.Join(h.scopes.Strings(), " ")
					c, ok := callers[known]
					if !ok {
						c = scopedCaller(t, p, env, h.scopes)
						callers[known] = c
					}
					t.Run(fmt.Sprintf("%s/%s credentials/%s", s.name(), env, h.name), func(t *testing.T) {
						s.checkAllowed(t, c, env, h.scopes)
					})
				}
			}
		}
	})
}

// scopedCaller returns a caller with exactly these scopes. If scopes is empty, the access
// token gets a scope that no operation requires, because a client without scopes gets no
// token.
func scopedCaller(t *testing.T, p *product.Product, env core.Environment, scopes core.Scopes) caller {
	t.Helper()
	credentials := credentialsWith(t, p, p.OrgID, env, scopes)
	if len(scopes) > 0 {
		return callerOf(t, p, credentials)
	}
	useless := credentialsWith(t, p, p.OrgID, env, core.Scopes{neededByNone(t)})
	return caller{p, p.TokenWith(t, useless, p.MCPURL), credentials.APIKey}
}

func neededByNone(t *testing.T) core.Scope {
	t.Helper()
	for _, scope := range core.AllScopes() {
		if !slices.ContainsFunc(subjects(), func(s subject) bool { return slices.Contains(s.Scopes, scope) }) {
			return scope
		}
	}
	t.Fatal("every scope is needed by some operation: a token without any must be made in another way")
	return ""
}

func (s subject) checkAllowed(t *testing.T, c caller, env core.Environment, held core.Scopes) {
	t.Helper()
	missing := held.FirstMissing(s.Scopes)
	forbidden := missing == "" && s.Effect == core.Destroys && env == core.Test
	callable := missing == "" && !forbidden
	if s.surface == core.Agent && c.lists(t, s.Name) != callable {
		t.Errorf("listed: %v, although callable is %v", !callable, callable)
	}
	got := c.call(t, s, s.pathArguments(t))
	status, code := got.outcome()
	switch {
	case missing != "":
		s.checkNamesScope(t, got, missing)
	case forbidden && (status != http.StatusForbidden || code != "test_environment_forbidden"):
		t.Errorf("a test credential destroys: %d %s", got.status, got.body)
	case callable && (status == http.StatusUnauthorized || status == http.StatusForbidden || status >= http.StatusInternalServerError):
		t.Errorf("refused: %d %s", got.status, got.body)
	}
	input := nodeOf(t, s.input)
	for argument, scope := range s.ArgumentScopes {
		property, ok := input.Properties[argument]
		if !ok { // an argument of the other surface
			continue
		}
		arguments := input.sample("", "", absentName).(map[string]any)
		maps.Copy(arguments, s.pathArguments(t))
		arguments[argument] = property.valid(c.p.Contact)
		s.checkArgumentAllowed(t, c.call(t, s, arguments), held, scope)
	}
}

// valid returns a valid value of the schema of an argument: the text, a new id if the schema
// asks for one, or true.
func (n node) valid(text string) any {
	if n.is("boolean") {
		return true
	}
	if n.Format == "uuid" {
		text = core.NewID()
	}
	return n.sample("", text, absentName)
}

// absentName returns a name of no object, for each required member of an input.
func absentName(string) string { return "absent" }

// checkArgumentAllowed checks the answer to a call with an argument that requires the scope
// in needed. If the caller lacks a scope of the operation itself, the refusal must be about
// that scope.
func (s subject) checkArgumentAllowed(t *testing.T, got answer, held core.Scopes, needed core.Scope) {
	t.Helper()
	missing := held.FirstMissing(s.Scopes)
	status, code := got.outcome()
	switch {
	case missing != "":
		s.checkNamesScope(t, got, missing)
	case held.Has(needed) && status != http.StatusOK && code != "not_found": // required members may name an absent object
		t.Errorf("with %s: %d %s", needed, status, got.body)
	case !held.Has(needed):
		s.checkNamesArgument(t, got, code, needed)
	}
}

// checkNamesArgument checks the refusal of an argument whose scope is missing. Over REST it
// has status 403. A tool returns an error result missing_scope without a WWW-Authenticate
// challenge, because the call works without the argument.
func (s subject) checkNamesArgument(t *testing.T, got answer, code string, needed core.Scope) {
	t.Helper()
	want, status := "invalid_scope", http.StatusForbidden
	if s.surface == core.Agent {
		want, status = "missing_scope", http.StatusOK
		if got.output()["hint"] == nil || got.header.Get("WWW-Authenticate") != "" || got.result()["isError"] != true {
			t.Errorf("no tool's error with a hint: %v %s", got.header, got.body)
		}
	}
	if got.status != status || code != want || got.output()["scope"] != string(needed) {
		t.Errorf("%d %s, want %d %s that names %s: %s", got.status, code, status, want, needed, got.body)
	}
}

// pathArguments returns a value for every parameter in the path of the route. Each value
// names an object that does not exist.
func (s subject) pathArguments(t *testing.T) map[string]any {
	t.Helper()
	arguments := map[string]any{}
	for segment := range strings.SplitSeq(s.route.Path, "/") {
		name, isName := strings.CutPrefix(segment, "{")
		if name = strings.TrimSuffix(name, "}"); !isName {
			continue
		}
		if names[name] == nil {
			t.Fatalf("the path names %q, which is not in the table of kinds_test.go", name)
		}
		arguments[name] = names[name][0].absent(999)
	}
	return arguments
}

// checkNamesScope checks that the refusal has HTTP status 403 on both surfaces and names
// the scope. So a client can request more scopes without knowledge of tools (RFC 6750
// section 3.1).
func (s subject) checkNamesScope(t *testing.T, got answer, missing core.Scope) {
	t.Helper()
	_, code := got.outcome()
	if got.status != http.StatusForbidden || code != "invalid_scope" || got.object["scope"] != string(missing) {
		t.Errorf("%d, want 403 invalid_scope naming %s: %s", got.status, missing, got.body)
	}
	if detail, _ := got.object["detail"].(string); !strings.Contains(detail, string(missing)) {
		t.Errorf("the sentence does not name %s: %q", missing, detail)
	}
	needs := `scope="` + strings.Join(sortedScopes(s.Scopes).Strings(), " ") + `"`
	for _, part := range []string{`error="insufficient_scope"`, needs, "resource_metadata="} {
		if challenge := got.header.Get("WWW-Authenticate"); !strings.Contains(challenge, part) {
			t.Errorf("the challenge lacks %s: %s", part, challenge)
		}
	}
}

// TestScopesOfArgumentsAreComplete checks that the operations declare every argument that
// requires a further scope: a caller with exactly the scopes of an operation must be allowed
// every argument without a declared scope.
func TestScopesOfArgumentsAreComplete(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	callers := map[string]caller{}
	declared, refused := map[string]map[string]core.Scope{}, map[string]map[string]core.Scope{}
	for _, s := range subjects() {
		if len(s.ArgumentScopes) > 0 {
			declared[s.Name] = s.ArgumentScopes
		}
		known := strings.Join(sortedScopes(s.Scopes).Strings(), " ")
		if _, ok := callers[known]; !ok {
			callers[known] = scopedCaller(t, p, core.Live, sortedScopes(s.Scopes))
		}
		input := nodeOf(t, s.input)
		beside := func(string) string { return p.Contact }
		for name, property := range input.Properties {
			arguments := input.sample("", "", beside).(map[string]any)
			arguments[name] = property.valid(p.Contact)
			got := callers[known].call(t, s, arguments)
			if _, code := got.outcome(); code != "missing_scope" && code != "invalid_scope" {
				continue
			}
			if refused[s.Name] == nil {
				refused[s.Name] = map[string]core.Scope{}
			}
			scope, _ := got.output()["scope"].(string)
			refused[s.Name][name] = core.Scope(scope)
		}
	}
	if diff := cmp.Diff(declared, refused); diff != "" {
		t.Errorf("arguments that need a scope (- declared, + found):\n%s", diff)
	}
}

func (c caller) lists(t *testing.T, tool string) bool {
	t.Helper()
	listed, ok := c.rpc(t, "tools/list", map[string]any{}).result()["tools"].([]any)
	if !ok {
		t.Fatal("tools/list has no list of tools")
	}
	return slices.ContainsFunc(listed, func(one any) bool { return one.(map[string]any)["name"] == tool })
}
