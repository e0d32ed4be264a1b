package content

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"unicode/utf8"
)

// MaxBytes is the maximum length of the text and of the structured content of a result,
// each in bytes as sent. A longer result is shortened and marked as such, because a large
// result uses up an agent's context.
const MaxBytes = 32 << 10

// cut describes what a shortened result leaves out. At is the path in the result. Of is the
// kind of what is missing: "items" of a list, "members" of an object, or "characters" of
// texts.
type cut struct {
	At    string `json:"at"`
	Of    string `json:"of"`
	Shown int    `json:"shown"`
	Total int    `json:"total"`
}

// moreElsewhere is the advice that a shortened result gives to the agent.
const moreElsewhere = "Narrow the query or ask for fewer at a time; the REST API has all of it."

// Shrink returns value if its length on the wire is at most limit bytes, and otherwise a
// shortened value. free are the paths of members that may contain any JSON object. To
// shorten such an object, Shrink may leave out members; to shorten a list, it leaves out
// items.
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

// trims returns the ways to shorten a result, in the order in which they are tried. For
// each maximum length of texts, the number of items falls from 256 to 8. Only with the
// shortest texts are fewer than 8 items left.
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

// shortest is the minimum length to which a text is cut, in characters. It exceeds the
// length of every id, time and enumerated value, so that none of them is cut.
const shortest = 40

// trim is one way to shorten a value: a maximum length for texts and a maximum number of
// items for lists.
type trim struct {
	text int // maximum characters of a text
	// maximum number of items of a list, and of members of an object whose path is in the
	// field free
	items int
	free  []string
	cuts  []cut
}

// shorten returns a shortened copy of a value. If anything was left out, the copy has the
// members shortened, truncated and more, which describe it.
func (t *trim) shorten(whole any) any {
	short := t.value(whole, "")
	object, ok := short.(map[string]any)
	if !ok || len(t.cuts) == 0 {
		return short
	}
	slices.SortFunc(t.cuts, func(a, b cut) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Of, b.Of)) })
	object["shortened"], object["truncated"] = t.cuts, true
	if _, has := object["more"]; !has {
		object["more"] = moreElsewhere
	}
	return object
}

// value returns a shortened copy of a JSON value. path names its position in the result,
// such as "contact.lists".
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

// string returns the text, cut to t.text characters if it is longer. The last character of
// a cut text is an ellipsis.
func (t *trim) string(s, path string) string {
	n := utf8.RuneCountInString(s)
	if n <= t.text {
		return s
	}
	t.note(path, "characters", t.text, n)
	return Clip(s, t.text)
}

// list returns shortened copies of the first t.items items of the list v.
func (t *trim) list(v []any, path string) []any {
	kept := make([]any, 0, min(len(v), t.items))
	for _, item := range v[:min(len(v), t.items)] {
		kept = append(kept, t.value(item, path))
	}
	return kept
}

// object returns a copy of an object with all its members, and shortens the value of each
// member. For an encoded core.Sample it also sets "shown" to the number of items that
// remain.
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

// sampleOf returns the items of an object. It returns false if the object does not have the
// members of an encoded core.Sample.
func sampleOf(v map[string]any) ([]any, bool) {
	items, isList := v["items"].([]any)
	_, counts := v["shown"].(json.Number)
	_, totals := v["total"].(json.Number)
	return items, isList && counts && totals
}

// within returns the path of the member `name` of the object at path, such as
// "contact.lists".
func within(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// shrinkFreeObject shortens an object that may have any members. path is the path of the
// object; it is one of t.free. The result has at most t.items members, the first in the
// order of their names. It leaves out a member whose name is longer than both t.text and 64
// characters.
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

// note records that a part of the result was left out. at is its path, of its kind, total
// the size before and shown the size after. If a record for the same path and kind exists,
// note adds both sizes to that record.
func (t *trim) note(at, of string, shown, total int) {
	for i := range t.cuts {
		if c := &t.cuts[i]; c.At == at && c.Of == of {
			c.Shown, c.Total = c.Shown+shown, c.Total+total
			return
		}
	}
	t.cuts = append(t.cuts, cut{At: at, Of: of, Shown: shown, Total: total})
}

// Clip returns s if it has at most n characters. Otherwise it returns the first n-1
// characters and an ellipsis.
func Clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
