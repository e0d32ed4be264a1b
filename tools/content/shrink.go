package content

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"unicode/utf8"
)

// MaxBytes is the maximum length of the text and of the structured content of a result, each
// in bytes as sent. A longer result is shortened and says so, because a large result uses up
// an agent's context.
const MaxBytes = 32 << 10

// cut describes what a result leaves out at one path. Of is the kind: items of a list,
// members of an object, or characters of texts.
type cut struct {
	At    string `json:"at"`
	Of    string `json:"of"`
	Shown int    `json:"shown"`
	Total int    `json:"total"`
}

// moreElsewhere is the advice in a shortened result.
const moreElsewhere = "Narrow the query or ask for fewer at a time; the REST API has all of it."

// Shrink returns value if it fits into limit bytes, else a shortened value. free are the
// paths of members that may hold any JSON; their own members may be left out like items.
func Shrink(value json.RawMessage, free []string, limit int) json.RawMessage {
	if WireLength(value) <= limit {
		return value
	}
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	var whole any
	if decoder.Decode(&whole) != nil {
		return json.RawMessage(`{"truncated":true}`)
	}
	for _, t := range trims() {
		t.free = free
		if short, err := Marshal(t.shorten(whole)); err == nil && WireLength(short) <= limit {
			return short
		}
	}
	return json.RawMessage(`{"truncated":true,"more":"` + moreElsewhere + `"}`)
}

// trims returns the ways to shorten a result, the one that leaves out least first. Texts are
// cut before items are left out, because a missing item is worse for a reader.
func trims() []*trim {
	var all []*trim
	for _, text := range []int{2000, 500, 200, 80, shortest} {
		for items := 256; items >= 8; items /= 2 {
			all = append(all, &trim{text: text, items: items})
		}
	}
	for _, items := range []int{4, 2, 1, 0} {
		all = append(all, &trim{text: shortest, items: items})
	}
	return all
}

// shortest is the shortest length to which a text is cut, in characters. It exceeds the
// length of every identifier, time and enumerated value, so these are never cut.
const shortest = 40

// trim is one way to shorten a value.
type trim struct {
	text  int // characters of a text
	items int // items of a list, members of a free object
	free  []string
	cuts  []cut
}

// shorten returns a shortened copy of an object whose first members list what was left out.
func (t *trim) shorten(whole any) any {
	short := t.value(whole, "")
	object, ok := short.(map[string]any)
	if !ok || len(t.cuts) == 0 {
		return short
	}
	slices.SortFunc(t.cuts, func(a, b cut) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Of, b.Of)) })
	object["shortened"], object["truncated"] = t.cuts, true
	if _, said := object["more"]; !said {
		object["more"] = moreElsewhere
	}
	return object
}

// value returns a shortened copy of a JSON value. path is its place in the result, with
// dots.
func (t *trim) value(v any, path string) any {
	switch v := v.(type) {
	case string:
		return t.string(v, path)
	case []any:
		kept := t.list(v, path+"[]")
		if len(kept) < len(v) {
			t.note(path, "items", len(kept), len(v))
		}
		return kept
	case map[string]any:
		if slices.Contains(t.free, path) {
			return t.shrinkFreeObject(v, path)
		}
		return t.object(v, path)
	}
	return v
}

// string returns the text cut to t.text characters. The last character is then an ellipsis.
func (t *trim) string(s, path string) string {
	n := utf8.RuneCountInString(s)
	if n <= t.text {
		return s
	}
	t.note(path, "characters", t.text, n)
	return Clip(s, t.text)
}

// list returns the first t.items items, each shortened.
func (t *trim) list(v []any, path string) []any {
	kept := make([]any, 0, min(len(v), t.items))
	for _, item := range v[:min(len(v), t.items)] {
		kept = append(kept, t.value(item, path))
	}
	return kept
}

// object returns a copy with every member, each shortened. A core.Sample counts its items
// itself.
func (t *trim) object(v map[string]any, path string) any {
	kept := make(map[string]any, len(v)+2)
	items, isSample := sampleOf(v)
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if isSample && name == "items" {
			continue
		}
		kept[name] = t.value(v[name], within(path, name))
	}
	if !isSample {
		return kept
	}
	shown := t.list(items, within(path, "items[]"))
	kept["items"], kept["shown"] = shown, len(shown)
	if len(shown) < len(items) {
		kept["truncated"], kept["more"] = true, moreElsewhere
	}
	return kept
}

// sampleOf returns the items of an object that has the form of a core.Sample, and whether it
// has.
func sampleOf(v map[string]any) ([]any, bool) {
	items, isList := v["items"].([]any)
	_, counts := v["shown"].(json.Number)
	_, totals := v["total"].(json.Number)
	return items, isList && counts && totals
}

// within returns the path of a member of the object at path.
func within(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// shrinkFreeObject returns a copy with the first members by name. It leaves out a member whose
// name is longer than the maximum text.
func (t *trim) shrinkFreeObject(v map[string]any, path string) any {
	kept := map[string]any{}
	below := &trim{text: t.text, items: t.items, free: []string{path + ".*"}}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if len(kept) >= t.items {
			break
		}
		if utf8.RuneCountInString(name) <= max(t.text, 64) {
			kept[name] = below.value(v[name], path+".*")
		}
	}
	if len(kept) < len(v) {
		t.note(path, "members", len(kept), len(v))
	}
	for _, c := range below.cuts {
		t.note(c.At, c.Of, c.Shown, c.Total)
	}
	return kept
}

// note adds to the list of cuts that at the path `at` only `shown` of `total` remain.
func (t *trim) note(at, of string, shown, total int) {
	for i := range t.cuts {
		if c := &t.cuts[i]; c.At == at && c.Of == of {
			c.Shown, c.Total = c.Shown+shown, c.Total+total
			return
		}
	}
	t.cuts = append(t.cuts, cut{At: at, Of: of, Shown: shown, Total: total})
}

// Clip returns the first n characters of s, the last of them an ellipsis when s is longer.
func Clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
