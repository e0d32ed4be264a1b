package parity

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// shape maps the path of each member of a response to what the member may be. In a path,
// "[]" means every item of a list.
type shape map[string]member

// member describes which values a member of a response may have.
type member struct {
	// kinds are the kinds of values: uuid, time, text, int, number, bool, object, array,
	// open and null. A text with a fixed set of values has a kind for each of them: "=" and
	// the value. An open object has members that are not listed.
	kinds []string
	// optional members may be absent.
	optional bool
	// rare lists allowed kinds that do not occur in the data of the test. "?" in rare means
	// that the member is optional but always present in that data.
	rare []string
}

// shapeOf parses a table of members. Each line has a path and the kinds of its values. "?"
// marks an optional member. Parentheses mark a kind that does not occur in the test's data.
// The parents of a path are objects or lists, unless they have a line of their own.
func shapeOf(t *testing.T, table string) shape {
	t.Helper()
	s := shape{}
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		var m member
		for _, word := range words[1:] {
			inner, rare := strings.CutPrefix(word, "(")
			if rare {
				word = strings.TrimSuffix(inner, ")")
				m.rare = append(m.rare, word)
			}
			if word == "?" {
				m.optional = true
			} else {
				m.kinds = append(m.kinds, word)
			}
		}
		if _, twice := s[words[0]]; twice || len(m.kinds) == 0 {
			t.Fatalf("line %q", line)
		}
		s[words[0]] = m
	}
	for _, path := range slices.Collect(maps.Keys(s)) {
		for parent, kind := above(path); parent != ""; parent, kind = above(parent) {
			if _, has := s[parent]; !has {
				s[parent] = member{kinds: []string{kind}}
			}
		}
	}
	return s
}

// above returns the path of the object or list that contains the member at the path, and
// its kind: "object" or "array".
func above(path string) (parent, kind string) {
	if list, is := strings.CutSuffix(path, "[]"); is {
		return list, "array"
	}
	if at := strings.LastIndexByte(path, '.'); at > 0 {
		return path[:at], "object"
	}
	return "", ""
}

// declared returns, for each member of the shape, the kinds of its JSON value as one sorted
// text, such as "null text". The text of an optional member ends with "?".
func (s shape) declared() map[string]string {
	texts := map[string]string{}
	for path, m := range s {
		texts[path] = declaration(m.kinds, m.optional)
	}
	return texts
}

func declaration(kinds []string, optional bool) string {
	kinds = slices.Sorted(slices.Values(kinds))
	if optional {
		kinds = append(kinds, "?")
	}
	return strings.Join(kinds, " ")
}

// survey compares responses with a shape: the expected members and the kinds of their
// values. In the field seen it records, by member, the kinds of JSON values that occurred.
type survey struct {
	shape
	seen map[string]map[string]bool
}

func surveyOf(s shape) survey { return survey{s, map[string]map[string]bool{}} }

// look compares one response with the shape s.shape. It records which kinds of values each
// member of the response has.
func (s survey) look(t *testing.T, what string, body string) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.UseNumber()
	var answer map[string]any
	if err := decoder.Decode(&answer); err != nil {
		t.Fatalf("%s: %v: %.300s", what, err, body)
	}
	s.members(t, what, "", answer)
}

func (s survey) members(t *testing.T, what, path string, object map[string]any) {
	t.Helper()
	for name, value := range object {
		s.value(t, what, strings.TrimPrefix(path+"."+name, "."), value)
	}
	for of, m := range s.shape {
		parent, _ := above(of)
		name := strings.TrimPrefix(strings.TrimPrefix(of, path), ".")
		if _, there := object[name]; there || parent != path || strings.HasSuffix(of, "[]") {
			continue
		}
		if s.addKind(of, "?"); !m.optional {
			t.Errorf("%s: %s is absent", what, of)
		}
	}
}

func (s survey) value(t *testing.T, what, path string, value any) {
	t.Helper()
	m, known := s.shape[path]
	if !known {
		t.Errorf("%s: %s is in no table: %v", what, path, value)
		return
	}
	kind := kindOf(value, m.kinds)
	if kind == "" {
		t.Errorf("%s: %s is %#v, want %v", what, path, value, m.kinds)
		return
	}
	s.addKind(path, kind)
	switch value := value.(type) {
	case map[string]any:
		if kind == "object" {
			s.members(t, what, path, value)
		}
	case []any:
		for _, item := range value {
			s.value(t, what, path+"[]", item)
		}
	}
}

func (s survey) addKind(path, kind string) {
	if s.seen[path] == nil {
		s.seen[path] = map[string]bool{}
	}
	s.seen[path][kind] = true
}

// complete fails the test if an allowed kind of a member occurred in no response. It
// ignores kinds in the member's field rare. If a member has several allowed words, one of
// them must have occurred.
func (s survey) complete(t *testing.T, what string) {
	t.Helper()
	for path, m := range s.shape {
		wanted := m.kinds
		if m.optional {
			wanted = append([]string{"?"}, wanted...)
		}
		words := 0
		for kind := range s.seen[path] {
			if kind[0] == '=' {
				words++
			}
		}
		for _, kind := range wanted {
			if kind[0] == '=' && words > 0 || s.seen[path][kind] || slices.Contains(m.rare, kind) {
				continue
			}
			t.Errorf("%s: no answer had %s as %s", what, path, kind)
		}
	}
}

// kindOf returns the first of the kinds, such as "null" or "bool", to which the value
// belongs, or "" if it belongs to none.
func kindOf(value any, kinds []string) string {
	for _, kind := range kinds {
		if isOf(value, kind) {
			return kind
		}
	}
	return ""
}

func isOf(value any, kind string) bool {
	switch value := value.(type) {
	case nil:
		return kind == "null"
	case bool:
		return kind == "bool"
	case json.Number:
		_, err := value.Int64()
		return kind == "number" || kind == "int" && err == nil
	case []any:
		return kind == "array"
	case map[string]any:
		return kind == "object" || kind == "open"
	case string:
		return textIs(value, kind)
	}
	panic(fmt.Sprintf("%T is no JSON", value))
}

// textIs reports whether a string has the format of the kind. A time must be in UTC, and a
// UUID must have its standard spelling.
func textIs(value, kind string) bool {
	switch kind {
	case "text":
		return true
	case "time":
		_, err := time.Parse(time.RFC3339Nano, value)
		return err == nil && strings.HasSuffix(value, "Z")
	case "uuid":
		id, err := uuid.Parse(value)
		return err == nil && id.String() == value
	}
	return kind == "="+value
}
