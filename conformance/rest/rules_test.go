package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
)

// rule is one sentence about what the service does, with calls that show it.
type rule struct {
	says  string
	steps []step
}

// step is one call. Its texts may hold names that are the rule's own, see [names].
type step struct {
	// call is a method and a path, or "tool" and the name of a tool.
	call, body string
	// status is that of a route's answer; a tool has none and fails by code alone.
	status int
	code   core.Code
	// want is JSON that the answer must contain: of an object the members named, of
	// an array every element in order. A text "~x" is a regular expression, and "!x"
	// any text but x. lacks names members that the answer must not have.
	want  string
	lacks string
	// keep is the path, with dots, of a text that later steps know as $kept.
	keep string
}

// names replaces $a and $b by two addresses that only this rule has, $A and $B by
// the same as a path holds them, $x and $y by two external ids.
func names(i int) *strings.Replacer {
	address := func(letter string) string { return fmt.Sprintf("%s.rule%d+tag@example.com", letter, i) }
	return strings.NewReplacer(
		"$a", address("a"), "$b", address("b"), "$A", url.QueryEscape(address("a")), "$B", url.QueryEscape(address("b")),
		"$x", fmt.Sprintf("x-%d", i), "$y", fmt.Sprintf("y-%d", i),
	)
}

// holds runs a rule's steps in order.
func (r rule) holds(t *testing.T, a *api, agent string, i int) {
	t.Helper()
	own, kept := names(i), ""
	for n, s := range r.steps {
		at := fmt.Sprintf("%q, step %d (%s)", r.says, n+1, s.call)
		s.call, s.body, s.want = strings.ReplaceAll(s.call, "$kept", kept), strings.ReplaceAll(s.body, "$kept", kept), strings.ReplaceAll(s.want, "$kept", kept)
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
			kept = got.text(t, at, s.keep)
		}
	}
}

// text is the text at a path of the body.
func (a *answer) text(t *testing.T, at, path string) string {
	t.Helper()
	var found any
	a.decode(&found)
	for name := range strings.SplitSeq(path, ".") {
		object, _ := found.(map[string]any)
		found = object[name]
	}
	text, ok := found.(string)
	if !ok {
		t.Fatalf("%s: no text at %s: %.400s", at, path, a.body)
	}
	return text
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

// missing says where got does not contain want, "" when it does.
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

// agrees compares two values that hold no others.
func agrees(want, got any) bool {
	text, _ := want.(string)
	if pattern, is := strings.CutPrefix(text, "~"); is {
		return got != nil && regexp.MustCompile(pattern).MatchString(fmt.Sprint(got))
	}
	if other, is := strings.CutPrefix(text, "!"); is {
		return got != nil && got != other
	}
	return want == got
}

// callTool is the structured result of a tool, as the body of an answer.
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

// TestRules holds every rule on both databases. Rules share a product: each has
// people of its own.
func TestRules(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a, agent := on(t, p), p.Token(t, p.MCPURL)
		for i, r := range allRules() {
			r.holds(t, a, agent, i)
		}
	})
}
