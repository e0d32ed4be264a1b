package bundles

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/bundles/manifest"
	"github.com/mailhelm/mailhelm/core/bundles/plan"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"pgregory.net/rapid"
)

// rounds returns the number of random bundles of a test. MAILHELM_RANDOM_BUNDLES replaces the usual one.
func rounds(t *testing.T, usual int) int {
	t.Helper()
	text := os.Getenv("MAILHELM_RANDOM_BUNDLES")
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestRandomBundles imports random bundles one after the other into an organization, and its export into
// another one: the exports are then equal byte for byte, and importing the export changes nothing.
func TestRandomBundles(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		p := product.Start(t, product.Options{Postgres: postgres})
		key, other := p.Live.APIKey, p.Other.Live.APIKey
		const query = "?dry_run=false&prune=true"
		for seed := range rounds(t, 2) {
			tree := manifest.Write(randomSet.Example(seed))
			first := importZip(t, p, key, query, tree)
			if !first.Applied {
				t.Fatalf("seed %d: %+v %v\n%s", seed, faults(first), first.Error, tree[archive.ManifestPath])
			}
			e, exported := decode(t, export(t, p, key, ""))
			copied := importJSON(t, p, other, query, e.Document)
			if !copied.Applied {
				t.Fatalf("seed %d, export: %+v %v", seed, faults(copied), copied.Error)
			}
			_, again := decode(t, export(t, p, other, ""))
			for _, path := range slices.Concat(exported.Paths(), again.Paths()) {
				if !bytes.Equal(exported[path], again[path]) {
					t.Errorf("seed %d: %s differs:\n%s\n%s", seed, path, exported[path], again[path])
				}
			}
			for _, bearer := range []string{key, other} {
				if i := importZip(t, p, bearer, query, exported); i.Plan.Totals[plan.Unchanged] != len(i.Plan.Objects) || len(i.Objects) > 0 {
					t.Errorf("seed %d: the export changes something: %+v", seed, i.Plan.Totals)
				}
			}
			if t.Failed() {
				return
			}
		}
	})
}

// names have up to three parts, and few characters, so that bundles share them.
var names = rapid.StringMatching(`[a-c][a-c0-9]{0,2}(_[a-z]{1,3})?`)

// words are lines of text with characters that files and JSON treat specially.
var words = rapid.StringOfN(rapid.RuneFrom([]rune("aZ 9<&>\"'\\/{äß漢🙂.%-")), 1, 20, 60).Filter(func(s string) bool {
	return strings.TrimSpace(s) == s && !strings.Contains(s, "{{")
})

// png is an image of one pixel.
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// randomSet generates sets of definitions that name each other and are valid.
var randomSet = rapid.Custom(func(t *rapid.T) *definitions.Set {
	s := &definitions.Set{Declared: map[definitions.Kind]bool{}}
	for _, kind := range definitions.Kinds() {
		s.Declared[kind] = true
	}
	some := func(label string) []string {
		return rapid.SliceOfNDistinct(names, 0, 5, rapid.ID[string]).Draw(t, label)
	}
	about := rapid.OneOf(rapid.Just(""), words)
	for _, name := range some("attributes") {
		a := definitions.Attribute{Name: name, Type: rapid.SampledFrom([]string{"string", "number", "bool", "datetime", "enum"}).Draw(t, "type"), Description: about.Draw(t, "description")}
		if a.Type == "enum" {
			a.EnumValues = rapid.SliceOfNDistinct(words, 1, 3, rapid.ID[string]).Draw(t, "values")
		}
		s.Attributes = append(s.Attributes, a)
	}
	for _, name := range some("properties") {
		s.ActivityProperties = append(s.ActivityProperties, definitions.ActivityProperty{
			Activity: rapid.SampledFrom([]string{"order_placed", "a.b", `c\d`}).Draw(t, "activity"), Property: name, Type: rapid.SampledFrom([]string{"string", "number", "bool", "datetime"}).Draw(t, "type"),
			Description: about.Draw(t, "description"),
		})
	}
	for _, name := range some("lists") {
		s.Lists = append(s.Lists, definitions.List{Key: name, Name: words.Draw(t, "name"), Description: about.Draw(t, "description")})
	}
	for _, name := range some("topics") {
		s.Topics = append(s.Topics, definitions.Topic{
			Name: name, DisplayName: words.Draw(t, "name"), Description: about.Draw(t, "description"), Default: rapid.SampledFrom([]string{"OPT_IN", "OPT_OUT"}).Draw(t, "default"),
		})
	}
	for _, name := range some("segments") {
		s.Segments = append(s.Segments, definitions.Segment{
			Key: name, Name: words.Draw(t, "name"), Description: about.Draw(t, "description"), Predicate: randomPredicate(t, s),
		})
	}
	for _, name := range some("images") {
		content, _ := base64.StdEncoding.DecodeString(png)
		s.Images = append(s.Images, definitions.Image{Path: "static/" + name + ".png", Content: content})
	}
	for _, name := range some("templates") {
		s.Templates = append(s.Templates, randomTemplate(t, s, name))
	}
	for _, name := range some("workflows") {
		if len(s.Segments) > 0 {
			s.Workflows = append(s.Workflows, definitions.Workflow{
				Key: name, Source: fmt.Sprintf("workflow %q v1 {\n  enter on segment %q\n\n  wait %d days\n}%s", name, s.Segments[0].Key, rapid.IntRange(1, 30).Draw(t, "days"), rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")),
			})
		}
	}
	return s
})

// randomPredicate returns a predicate that tests some of the definitions of the set so far.
func randomPredicate(t *rapid.T, s *definitions.Set) string {
	tests := []string{`attr.email contains "a"`}
	for _, a := range s.Attributes {
		if a.Type == "number" {
			tests = append(tests, fmt.Sprintf("attr.%s > %d", a.Name, rapid.IntRange(0, 99).Draw(t, "number")))
		}
	}
	for _, l := range s.Lists {
		tests = append(tests, fmt.Sprintf("in list %q", l.Key))
	}
	for _, topic := range s.Topics {
		tests = append(tests, fmt.Sprintf("subscribed to %q", topic.Name))
	}
	for _, g := range s.Segments {
		tests = append(tests, fmt.Sprintf("not in segment %q", g.Key))
	}
	chosen := rapid.SliceOfN(rapid.SampledFrom(tests), 1, 3).Draw(t, "tests")
	return strings.Join(chosen, rapid.SampledFrom([]string{" and ", "\nand # é\n"}).Draw(t, "between")) + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
}

func randomTemplate(t *rapid.T, s *definitions.Set, name string) definitions.Template {
	template := definitions.Template{
		Key: name, Subject: words.Draw(t, "subject"), HTML: "<p>" + strings.NewReplacer("<", "&lt;", "&", "&amp;", "{", "(").Replace(words.Draw(t, "html")) + "</p>" + rapid.SampledFrom([]string{"", "\r\n", "\n"}).Draw(t, "end"),
		Text: strings.ReplaceAll(words.Draw(t, "text"), "{", "("), Tags: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "B", "ä ö"}), 0, 3, rapid.ID[string]).Draw(t, "tags"),
	}
	template.Subject = strings.ReplaceAll(template.Subject, "{", "(")
	if len(s.Topics) > 0 && rapid.Bool().Draw(t, "has a topic") {
		template.Topic = s.Topics[0].Name
	}
	for _, set := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"vip", "VIP", "a/b", "ä"}), 0, 3, rapid.ID[string]).Draw(t, "sets") {
		if template.TestData == nil {
			template.TestData = map[string]json.RawMessage{}
		}
		template.TestData[set] = json.RawMessage(fmt.Sprintf(`{"a":%d.50,"b":[1,null,{"c":"<&>"}]}`, rapid.IntRange(0, 9).Draw(t, "value")))
	}
	return template
}
