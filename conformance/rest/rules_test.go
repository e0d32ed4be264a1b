package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
)

// rule is one sentence about the behaviour of the product, with calls that test it.
type rule struct {
	says  string
	steps []step
}

// step is one call of a rule, which is a sentence about the product with calls that test
// it. The texts of a step may contain variables such as $a, whose values are unique to the
// rule; see [originals].
type step struct {
	// call is a method and a path, or "tool" and the name of an MCP tool.
	call, body string
	// status is the expected HTTP status of a route. A tool has no status; for a tool, a
	// non-empty code means that the call must fail.
	status int
	code   core.Code
	// want is JSON that the response must contain. For an object in want, the response must
	// have the named members with their values; for an array, exactly these elements in
	// order. A string "~x" is a regular expression, and "!x" means any value but x and null.
	// lacks names members that the response must not have.
	want  string
	lacks string
	// keep is a member of the response, as a path with dots. Later steps can use its value
	// as $1, and the second kept value as $2.
	keep string
}

// originals returns the replacements for variables such as $a in the steps of rule i. Each
// rule gets values of its own. $a and $b are addresses, and $A and $B the same addresses
// escaped for a path. $x and $y are external ids, and $n is an identifier.
func originals(i int) []string {
	address := func(letter string) string { return fmt.Sprintf("%s.rule%d+tag@example.com", letter, i) }
	return []string{
		"$a", address("a"), "$b", address("b"), "$A", url.QueryEscape(address("a")), "$B", url.QueryEscape(address("b")),
		"$x", fmt.Sprintf("x-%d", i), "$y", fmt.Sprintf("y-%d", i), "$n", fmt.Sprintf("n_%d", i),
	}
}

// holds runs the steps of the rule in order and checks their responses. agent is the access
// token for tool calls. i is the rule's index, from which the rule's own addresses and ids
// are made.
func (r rule) holds(t *testing.T, a *api, agent string, i int) {
	t.Helper()
	var kept []string
	own := strings.NewReplacer(originals(i)...)
	for n, s := range r.steps {
		at := fmt.Sprintf("%q, step %d (%s)", r.says, n+1, s.call)
		method, target, _ := strings.Cut(own.Replace(s.call), " ")
		body := own.Replace(s.body)
		var got answer
		if method == "tool" {
			got = *a.callTool(t, agent, target, body)
		} else {
			got = *a.do(t, method, target, body)
		}
		s.check(t, at, got, own)
		if s.keep != "" {
			kept = append(kept, fmt.Sprintf("$%d", len(kept)/2+1), member(t, got.body, s.keep))
			own = strings.NewReplacer(append(slices.Clone(kept), originals(i)...)...)
		}
	}
}

// member returns the value of the member at the path in a JSON body, as text.
func member(t *testing.T, body []byte, path string) string {
	t.Helper()
	var found any
	if err := json.Unmarshal(body, &found); err != nil {
		t.Errorf("%v: %.200s", err, body)
	}
	for name := range strings.SplitSeq(path, ".") {
		switch of := found.(type) {
		case map[string]any:
			found = of[name]
		case []any:
			found = nil
			if at, err := strconv.Atoi(name); err == nil && at < len(of) {
				found = of[at]
			}
		}
	}
	if found == nil {
		t.Errorf("nothing at %s: %.400s", path, body)
	}
	return fmt.Sprint(found)
}

func (s step) check(t *testing.T, at string, got answer, own *strings.Replacer) {
	t.Helper()
	if s.status != 0 && got.status != s.status {
		t.Errorf("%s: status %d, want %d: %.400s", at, got.status, s.status, got.body)
		return
	}
	if wait := got.header.Get("Retry-After"); got.status == http.StatusUnprocessableEntity && wait != "" {
		t.Errorf("%s: the same call would be refused again, and it says to come back after %s", at, wait)
	}
	var found any
	if len(got.body) > 0 {
		if err := json.Unmarshal(got.body, &found); err != nil {
			t.Errorf("%s: %v: %.200s", at, err, got.body)
			return
		}
	}
	object, _ := found.(map[string]any)
	if code, _ := object["code"].(string); code != string(s.code) && !strings.Contains(s.want, `"code"`) {
		t.Errorf("%s: code %q, want %q: %.400s", at, code, s.code, got.body)
	}
	if s.want != "" {
		var want any
		if err := json.Unmarshal([]byte(own.Replace(s.want)), &want); err != nil {
			t.Fatalf("%s: the expectation is not JSON: %v", at, err)
		}
		if problem := missing("", want, found); problem != "" {
			t.Errorf("%s: %s in %.600s", at, problem, got.body)
		}
	}
	for member := range strings.FieldsSeq(s.lacks) {
		if _, has := object[member]; has {
			t.Errorf("%s: has %s: %.400s", at, member, got.body)
		}
	}
}

// missing compares two JSON values. It returns a text about one member of want that is
// absent in got or has another value there. It returns "" if got has all members of want.
// Arrays must have the same length, and an empty object matches only an empty one.
func missing(path string, want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return path + " is no object"
		}
		if len(want) == 0 && len(object) > 0 {
			return path + " is not empty"
		}
		for name, value := range want {
			if problem := missing(path+"."+name, value, object[name]); problem != "" {
				return problem
			}
		}
		return ""
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return fmt.Sprintf("%s is not a list of %d", path, len(want))
		}
		for i, value := range want {
			if problem := missing(fmt.Sprintf("%s.%d", path, i), value, list[i]); problem != "" {
				return problem
			}
		}
		return ""
	}
	if !agrees(want, got) {
		return fmt.Sprintf("%s is %v, not %v", path, got, want)
	}
	return ""
}

// callTool calls an MCP tool. It returns the structured content of the result in the form
// of an HTTP answer, so that a rule can check it like a route's.
func (a *api) callTool(t testing.TB, token, name, arguments string) *answer {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + `}}`
	r := a.as(token).request(t, http.MethodPost, a.MCPURL+"/mcp", body, "Accept", "application/json, text/event-stream")
	got, err := a.HTTP.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	var envelope struct {
		Result struct {
			StructuredContent json.RawMessage `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.NewDecoder(got.Body).Decode(&envelope); err != nil {
		t.Fatalf("tool %s: %v", name, err)
	}
	return &answer{t: t, call: "tool " + name, docs: a.DocsURL, status: got.StatusCode, header: got.Header, body: envelope.Result.StructuredContent}
}

// TestRules checks every rule. All rules use the same product, and each rule uses contacts
// of its own.
func TestRules(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a, agent := on(t, p), p.Token(t, p.MCPURL)
		for i, r := range allRules() {
			r.holds(t, a, agent, i)
		}
	})
}
