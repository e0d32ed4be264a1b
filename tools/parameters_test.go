package tools_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/catalogue"
)

// TestParametersAreDescribed checks that each parameter of each tool has a description that
// says more than its name, also members of objects and of items of arrays. An agent fills
// in a parameter by its description alone.
func TestParametersAreDescribed(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, catalogue.Operations(catalogue.Domains{}))
	for _, tool := range w.send(rpc(legacy, "tools/list", nil)).result(t).Result.Tools {
		for path, description := range parametersOf(t, tool["inputSchema"]) {
			if fault := faultOfDescription(path, description); fault != "" {
				t.Errorf("%s: the description of %s %s: %q", tool["name"], path, fault, description)
			}
		}
	}
}

// TestTimesAndPredicatesHaveAnExample checks that parameters whose form is not obvious show
// it by an example, or refer to a parameter of the same tool that does.
func TestTimesAndPredicatesHaveAnExample(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, catalogue.Operations(catalogue.Domains{}))
	for _, tool := range w.send(rpc(legacy, "tools/list", nil)).result(t).Result.Tools {
		described := parametersOf(t, tool["inputSchema"])
		all := strings.Join(slices.Collect(maps.Values(described)), " ")
		for path, description := range described {
			name := path[strings.LastIndexByte(path, '.')+1:]
			example, needed := examples[name]
			if isEnd := name == "to" && strings.Contains(all, "such as 2026-"); needed && !isEnd && !example.MatchString(description) {
				t.Errorf("%s: the description of %s has no example: %q", tool["name"], path, description)
			}
		}
	}
}

var examples = map[string]*regexp.Regexp{
	"from": instant, "to": instant, "since": instant, "occurred_at": instant,
	"source":            regexp.MustCompile(`such as (attr\.|workflow ")`),
	"attributes":        regexp.MustCompile(`such as \{"`),
	"topic_preferences": regexp.MustCompile(`\{"[a-z]+": "OPT_OUT"\}`),
	"properties":        regexp.MustCompile(`such as \{"`),
	"idempotency_key":   regexp.MustCompile(`such as \S+`),
	"channel":           regexp.MustCompile(`such as \S+`),
}

var instant = regexp.MustCompile(`RFC 3339, such as 2026-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// parametersOf returns the descriptions of all named members of a schema, "" for members
// without one, by path. The path of a member of an item of the array a is a.*.member.
func parametersOf(t *testing.T, schema any) map[string]string {
	t.Helper()
	text, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	var node parameterNode
	if err := json.Unmarshal(text, &node); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	node.collect("", found)
	return found
}

type parameterNode struct {
	Description string                   `json:"description"`
	Properties  map[string]parameterNode `json:"properties"`
	Items       *parameterNode           `json:"items"`
	Others      *parameterNode           `json:"additionalProperties"`
	OneOf       []parameterNode          `json:"oneOf"`
	AnyOf       []parameterNode          `json:"anyOf"`
}

// UnmarshalJSON decodes a schema. It also accepts true and false.
func (n *parameterNode) UnmarshalJSON(text []byte) error {
	type plain parameterNode
	if text[0] != '{' {
		return nil
	}
	return json.Unmarshal(text, (*plain)(n))
}

func (n parameterNode) collect(at string, into map[string]string) {
	for name, member := range n.Properties {
		into[at+name] = member.Description
		member.collect(at+name+".", into)
	}
	for _, below := range []*parameterNode{n.Items, n.Others} {
		if below != nil {
			below.collect(at+"*.", into)
		}
	}
	for _, alternative := range slices.Concat(n.OneOf, n.AnyOf) {
		alternative.collect(at, into)
	}
}

// fillers are words that say nothing about a parameter: "Id of the message." repeats the
// name message_id.
var fillers = []string{"a", "an", "the", "of", "this", "that", "to", "for", "its", "your", "and", "or", "is", "only", "given", "value", "parameter", "string", "number", "integer", "boolean"}

// faultOfDescription returns what is wrong with the description of a parameter, "" for
// nothing.
func faultOfDescription(path, description string) string {
	if description == "" {
		return "is missing"
	}
	if !regexp.MustCompile(`^[A-Za-z].*[.]$`).MatchString(description) {
		return "is no sentence"
	}
	said := regexp.MustCompile(`[a-z0-9]+`).FindAllString(strings.ToLower(strings.ReplaceAll(description, "'s", "")), -1)
	named := strings.FieldsFunc(strings.ToLower(path), func(r rune) bool { return r == '.' || r == '*' || r == '_' })
	isNew := func(word string) bool {
		stem := strings.TrimSuffix(word, "s")
		return !slices.Contains(fillers, word) && !slices.ContainsFunc(named, func(name string) bool { return strings.TrimSuffix(name, "s") == stem })
	}
	if !slices.ContainsFunc(said, isNew) {
		return "only repeats the name"
	}
	return ""
}

func TestDescriptionsThatRepeatANameAreFound(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ path, description, fault string }{
		{"message_id", "", "is missing"},
		{"message_id", "Id of the message.", "only repeats the name"},
		{"message_id", "The message's id.", "only repeats the name"},
		{"limit", "Limit", "is no sentence"},
		{"rows.*.topics", "Topics of this row.", "only repeats the name"},
		{"attributes", "The attributes (object)", "is no sentence"},
		{"message_id", "The provider's id of the message.", ""},
		{"limit", "Greatest number of items in the answer.", ""},
	} {
		if got := faultOfDescription(tc.path, tc.description); got != tc.fault {
			t.Errorf("%s: %q: %q, want %q", tc.path, tc.description, got, tc.fault)
		}
	}
}

// TestParametersBelowOthersAreFound checks that parametersOf reaches members of items, of
// values of maps and of alternatives.
func TestParametersBelowOthersAreFound(t *testing.T) {
	t.Parallel()
	got := parametersOf(t, json.RawMessage(`{"properties":{"a":{"items":{"properties":{"b":{"description":"B."}}}},
		"c":{"additionalProperties":{"properties":{"d":{}}}},"e":{"anyOf":[{"properties":{"f":{}}},{"type":"null"}],"additionalProperties":false}}}`))
	if want := []string{"a", "a.*.b", "c", "c.*.d", "e", "e.f"}; !slices.Equal(slices.Sorted(maps.Keys(got)), want) || got["a.*.b"] != "B." {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestTheConfirmationTokenIsDescribed covers the one parameter that no operation declares.
func TestTheConfirmationTokenIsDescribed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, tool := range w.send(rpc(legacy, "tools/list", nil)).result(t).Result.Tools {
		if description, has := parametersOf(t, tool["inputSchema"])["confirmation_token"]; has != (tool["name"] == "broadcasts_send") || has && faultOfDescription("confirmation_token", description) != "" {
			t.Errorf("%s: %v %q", tool["name"], has, description)
		}
	}
}
