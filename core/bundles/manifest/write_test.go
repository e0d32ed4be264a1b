package manifest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/bundles/manifest"
	"pgregory.net/rapid"
)

// TestRoundTrip checks with random sets that what is written is read, that it is used completely, and
// that a second writing gives equal bytes.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		set := randomSet(t)
		set.Sort()
		tree := manifest.Write(set)
		r := manifest.Read(tree)
		if r.HasErrors() || len(r.Diagnostics)+len(r.Faults)+len(r.Unused) > 0 {
			t.Fatal(describe(r))
		}
		if diff := gocmp.Diff(*set, r.Set, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-written +read):\n%s", diff)
		}
		if diff := gocmp.Diff(tree, manifest.Write(&r.Set)); diff != "" {
			t.Fatalf("second writing (-first +second):\n%s", diff)
		}
		for path := range tree {
			if reason := archive.CheckPath(path); reason != "" {
				t.Fatalf("the path %q %s", path, reason)
			}
		}
	})
}

var (
	key = rapid.StringMatching(`[a-z0-9]+([-_][a-z0-9]+){0,2}`)
	// text may have any character that JSON text may have.
	text  = rapid.String().Filter(func(s string) bool { return s != "" && !strings.ContainsRune(s, '\uFFFD') })
	maybe = rapid.OneOf(rapid.Just(""), text)
)

// distinct returns a generator of up to four different keys.
func distinct(g *rapid.Generator[string]) *rapid.Generator[[]string] {
	return rapid.SliceOfNDistinct(g, 0, 4, strings.ToLower)
}

func randomSet(t *rapid.T) *definitions.Set {
	s := &definitions.Set{Declared: map[definitions.Kind]bool{}}
	fill := map[definitions.Kind]func(){
		definitions.KindAttribute: func() {
			for _, name := range distinct(rapid.StringMatching(`[a-z][a-z0-9_]{0,9}`)).Draw(t, "attributes") {
				a := definitions.Attribute{Name: name, Type: rapid.SampledFrom([]string{"string", "number", "bool", "datetime", "enum"}).Draw(t, "type"), Description: maybe.Draw(t, "description")}
				if a.Type == "enum" {
					a.EnumValues = rapid.SliceOfN(text, 1, 3).Draw(t, "values")
				}
				s.Attributes = append(s.Attributes, a)
			}
		},
		definitions.KindActivityProperty: func() {
			for _, name := range distinct(text).Draw(t, "properties") {
				s.ActivityProperties = append(s.ActivityProperties, definitions.ActivityProperty{
					Activity: rapid.SampledFrom([]string{"order_placed", "a.b"}).Draw(t, "activity"), Property: name, Type: "number", Description: maybe.Draw(t, "description"),
				})
			}
		},
		definitions.KindList: func() {
			for _, k := range distinct(key).Draw(t, "lists") {
				s.Lists = append(s.Lists, definitions.List{Key: k, Name: text.Draw(t, "name"), Description: maybe.Draw(t, "description")})
			}
		},
		definitions.KindSegment: func() {
			for _, k := range distinct(key).Draw(t, "segments") {
				s.Segments = append(s.Segments, definitions.Segment{Key: k, Name: text.Draw(t, "name"), Description: maybe.Draw(t, "description"), Predicate: maybe.Draw(t, "predicate")})
			}
		},
		definitions.KindTopic: func() {
			for _, k := range distinct(rapid.StringMatching(`[A-Za-z0-9_-]{1,8}`)).Draw(t, "topics") {
				s.Topics = append(s.Topics, definitions.Topic{Name: k, DisplayName: text.Draw(t, "name"), Description: maybe.Draw(t, "description"), Default: rapid.SampledFrom([]string{"OPT_IN", "OPT_OUT"}).Draw(t, "default")})
			}
		},
		definitions.KindImage: func() {
			for _, k := range distinct(key).Draw(t, "images") {
				s.Images = append(s.Images, definitions.Image{Path: "static/" + k + ".png", Content: rapid.SliceOf(rapid.Byte()).Draw(t, "content")})
			}
		},
		definitions.KindTemplate: func() { s.Templates = randomTemplates(t) },
		definitions.KindWorkflow: func() {
			for _, k := range distinct(key).Draw(t, "workflows") {
				s.Workflows = append(s.Workflows, definitions.Workflow{Key: k, Source: maybe.Draw(t, "source")})
			}
		},
	}
	for _, kind := range definitions.Kinds() {
		if rapid.Bool().Draw(t, "declares "+string(kind)) {
			s.Declared[kind] = true
			fill[kind]()
		}
	}
	return s
}

func randomTemplates(t *rapid.T) (all []definitions.Template) {
	for _, k := range distinct(rapid.StringMatching(`[a-z0-9_-]+(/[a-z0-9_-]+)?`)).Draw(t, "templates") {
		template := definitions.Template{
			Key: k, Subject: text.Draw(t, "subject"), HTML: maybe.Draw(t, "html"), Text: maybe.Draw(t, "text"), Topic: maybe.Draw(t, "topic"),
			Tags: rapid.SliceOfN(text, 0, 2).Draw(t, "tags"), TestData: map[string]json.RawMessage{},
		}
		// The case of the names of sets matters.
		names := rapid.OneOf(text, rapid.SampledFrom([]string{"VIP", "vip", "Vip", ".", "..", "a/b", "%41"})).Filter(func(s string) bool { return len(s) <= 60 })
		for _, name := range rapid.SliceOfNDistinct(names, 0, 3, rapid.ID[string]).Draw(t, "sets") {
			value := fmt.Sprintf(`{"a": %d.50, "_name": %q, "b": [1, null, {"c": "<&>"}]}`, rapid.Int().Draw(t, "number"), "x")
			template.TestData[name] = manifest.Canonical([]byte(value))
		}
		all = append(all, template)
	}
	return all
}

// FuzzRead checks that any manifest is read, and that what was read can be written and read again.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"lists": {"a": {"name": "A"}}, "images": ["a.png"], "templates": {"t": {"path": "t.hbs", "testdata": "f/"}}}`), []byte(`{"x": 1}`))
	f.Add([]byte(`{"attributes": "f/a.json", "activity_properties": "f/a.json"}`), []byte(`{"type": "object", "properties": {"a": {"type": "string"}}}`))
	f.Fuzz(func(t *testing.T, text, other []byte) {
		tree := archive.Tree{archive.ManifestPath: text, "f/a.json": other, "t.hbs": other, "a.png": other}
		r := manifest.Read(tree)
		if r.HasErrors() {
			return
		}
		again := manifest.Read(manifest.Write(&r.Set))
		if again.HasErrors() {
			return // keys that the rules of the kinds refuse, such as "a/../b", make paths that none can be
		}
		if diff := gocmp.Diff(r.Set, again.Set, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-first +second):\n%s", diff)
		}
	})
}
