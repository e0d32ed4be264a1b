package bundles

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/bundles/manifest"
	"github.com/mailhelm/mailhelm/core/tags"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// export exports the definitions with a credential. accept is the header Accept.
func export(t *testing.T, p *product.Product, bearer, accept string) product.Answer {
	t.Helper()
	return p.Send(t, product.Request{URL: p.BaseURL + "/v1/export", Bearer: bearer, Header: map[string]string{"Accept": accept}})
}

// exported is the JSON form of an export.
type exported struct {
	archive.Document
	Omitted []string
}

func decode(t *testing.T, a product.Answer) (e exported, tree archive.Tree) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.Body), &e); err != nil || a.Status != http.StatusOK {
		t.Fatalf("%d %s: %v", a.Status, a.Body, err)
	}
	tree, err := e.Tree()
	if err != nil {
		t.Fatal(err)
	}
	return e, tree
}

// TestExport exports the definitions of the demo as JSON and as a zip archive. Both must have the same
// files, and each definition as the API returns it.
func TestExport(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		p := product.Start(t, product.Options{Postgres: postgres})
		add(t, p)
		author(t, p)
		first, second := export(t, p, p.Live.APIKey, "*/*"), export(t, p, p.Live.APIKey, "application/json, application/zip;q=0")
		if first.Body != second.Body {
			t.Error("two exports differ")
		}
		e, tree := decode(t, first)
		if len(e.Omitted) != 0 || first.Header.Get("X-Service-Omitted") != "" || first.Header.Get("Content-Type") != "application/json" {
			t.Errorf("omitted %v, %v", e.Omitted, first.Header)
		}
		zipped := export(t, p, p.Live.APIKey, "text/html, application/zip")
		unpacked, err := archive.ReadZip([]byte(zipped.Body))
		if diff := cmp.Diff(tree, unpacked); diff != "" || err != nil || zipped.Header.Get("Content-Type") != "application/zip" {
			t.Errorf("%v, %v (-json +zip):\n%s", err, zipped.Header, diff)
		}
		if again := export(t, p, p.Live.APIKey, "application/zip"); again.Body != zipped.Body {
			t.Error("two zip archives differ")
		}
		r := manifest.Read(tree)
		if r.HasErrors() || len(r.Diagnostics)+len(r.Faults)+len(r.Unused) > 0 {
			t.Fatalf("%+v %+v %v", r.Diagnostics, r.Faults, r.Unused)
		}
		check(t, p, &r.Set)
		other, _ := decode(t, export(t, p, p.Other.Live.APIKey, ""))
		if text := string(other.Manifest) + strings.Join(slices.Collect(maps.Keys(other.Files)), " "); strings.Contains(text, "order_placed") || strings.Contains(text, "bundle_attribute") {
			t.Errorf("another organization exports %s", text)
		}
	})
}

// add adds definitions that the demo does not have.
func add(t *testing.T, p *product.Product) {
	t.Helper()
	for _, c := range [][2]string{
		{"/v1/attributes", `{"name":"bundle_attribute","type":"enum","enum_values":["<free>","p\u00e4o"],"description":"With \"quotes\"."}`},
		{"/v1/activity-properties", `{"activity_name":"order.placed","property":"total.sum","type":"number"}`},
		{"/v1/lists", `{"name":"Exported","key":"exported","description":"On purpose."}`},
	} {
		if a := p.Send(t, product.Request{Method: http.MethodPost, URL: p.BaseURL + c[0], Bearer: p.Live.APIKey, Body: c[1]}); a.Status != http.StatusCreated {
			t.Fatalf("%s: %d %s", c[0], a.Status, a.Body)
		}
	}
}

// author saves templates and a workflow as an agent does, and tags a template.
func author(t *testing.T, p *product.Product) {
	t.Helper()
	token := p.Token(t, p.MCPURL, product.ToolScopes().Strings()...)
	for _, c := range [][2]string{
		{"templates_author", `{"slug":"welcome","subject":"Hello {{first_name}} <3","html":"<p>Hello {{first_name}}</p>\n","text":"Hello","testdata":{"VIP":{"first_name":"Ada","n":1.50},"vip":{"first_name":"ä/.."}}}`},
		{"templates_author", `{"slug":"team/weekly","html":"<p>This week</p>"}`},
		{"workflows_author", `{"source":"workflow \"Welcome\" v1 {\n  enter on activity.order_placed\n  wait 1 day\n}\n"}`},
	} {
		call := p.ToAgent(token, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+c[0]+`","arguments":`+c[1]+`}}`)
		if a := p.Send(t, call); a.Status != http.StatusOK || !strings.Contains(a.Body, `"saved"`) {
			t.Fatalf("%s: %d %s", c[0], a.Status, a.Body)
		}
	}
	ctx := t.Context()
	stored, err := p.DB.ManagedTemplates().ManagedBySlug(ctx, p.OrgID, "welcome")
	if err != nil {
		t.Fatal(err)
	}
	tag := tags.Tag{ID: core.NewID(), Name: "onboarding", Color: "#16a34a", CreatedAt: p.Clock.Now()}
	if err := errors.Join(p.DB.Tags().InsertTag(ctx, p.OrgID, tag), p.DB.Tags().SetTemplateTags(ctx, p.OrgID, stored.ID, []string{tag.ID})); err != nil {
		t.Fatal(err)
	}
}

// check compares the definitions of a bundle with those that the API returns.
func check(t *testing.T, p *product.Product, set *definitions.Set) {
	t.Helper()
	for kind, path := range map[definitions.Kind]string{
		definitions.KindAttribute: "attributes", definitions.KindActivityProperty: "activity-properties", definitions.KindList: "lists",
		definitions.KindSegment: "segments", definitions.KindTopic: "topics", definitions.KindWorkflow: "workflows",
	} {
		var want []string
		for _, d := range list(t, p, "/v1/"+path) {
			switch kind {
			case definitions.KindAttribute, definitions.KindTopic:
				want = append(want, text(d["name"]))
			case definitions.KindActivityProperty:
				want = append(want, definitions.ActivityProperty{Activity: text(d["activity_name"]), Property: text(d["property"])}.Key())
			default:
				if d["status"] != "archived" {
					want = append(want, text(d["key"]))
				}
			}
		}
		var got []string
		for _, item := range set.Items(kind) {
			got = append(got, item.Key)
		}
		slices.Sort(want)
		if slices.Sort(got); len(want) == 0 || !slices.Equal(want, got) || !set.Declared[kind] {
			t.Errorf("%s: the bundle has %v, the API %v", kind, got, want)
		}
	}
	for _, s := range set.Segments {
		if d := object(t, p, "/v1/segments/"+s.Key); d["source"] != s.Predicate || d["name"] != s.Name || d["description"] != s.Description {
			t.Errorf("segment %+v is %v", s, d)
		}
	}
	managed := 0
	for _, d := range list(t, p, "/v1/templates?limit=200") {
		if d["source"] != "managed" {
			continue
		}
		managed++
		at := slices.IndexFunc(set.Templates, func(t definitions.Template) bool { return t.Key == d["slug"] })
		if at < 0 || object(t, p, "/v1/templates/"+url.PathEscape(text(d["slug"])))["subject"] != set.Templates[at].Subject {
			t.Errorf("template %v is not in the bundle", d["slug"])
		}
	}
	if managed == 0 || managed != len(set.Templates) {
		t.Errorf("the bundle has %d templates, the API %d", len(set.Templates), managed)
	}
	welcome := definitions.Template{
		Key: "welcome", Subject: "Hello {{first_name}} <3", HTML: "<p>Hello {{first_name}}</p>\n", Text: "Hello", Tags: []string{"onboarding"},
		TestData: map[string]json.RawMessage{"VIP": json.RawMessage(`{"first_name":"Ada","n":1.50}`), "vip": json.RawMessage(`{"first_name":"ä/.."}`)},
	}
	if at := slices.IndexFunc(set.Templates, func(t definitions.Template) bool { return t.Key == "welcome" }); at < 0 || !cmp.Equal(welcome, set.Templates[at]) {
		t.Errorf("templates %+v", set.Templates)
	}
	if len(set.Workflows) != 1 || set.Workflows[0].Source != "workflow \"Welcome\" v1 {\n  enter on activity.order_placed\n  wait 1 day\n}\n" {
		t.Errorf("workflows %+v", set.Workflows)
	}
	at := slices.IndexFunc(set.Attributes, func(a definitions.Attribute) bool { return a.Name == "bundle_attribute" })
	want := definitions.Attribute{Name: "bundle_attribute", Type: "enum", EnumValues: []string{"<free>", "päo"}, Description: `With "quotes".`}
	if at < 0 || !cmp.Equal(want, set.Attributes[at]) {
		t.Errorf("attributes %+v", set.Attributes)
	}
}

func text(value any) string {
	s, _ := value.(string)
	return s
}

// list returns the items of a list of the API.
func list(t *testing.T, p *product.Product, path string) []map[string]any {
	t.Helper()
	var items []map[string]any
	data, ok := object(t, p, path)["data"].([]any)
	if !ok {
		t.Fatalf("%s has no data", path)
	}
	for _, item := range data {
		items = append(items, item.(map[string]any))
	}
	return items
}

func object(t *testing.T, p *product.Product, path string) (o map[string]any) {
	t.Helper()
	return objectOf(t, p, p.Live.APIKey, path)
}

// objectOf returns an object of the API that a credential reads.
func objectOf(t *testing.T, p *product.Product, bearer, path string) (o map[string]any) {
	t.Helper()
	a := p.Send(t, product.Request{URL: p.BaseURL + path, Bearer: bearer})
	if err := json.Unmarshal([]byte(a.Body), &o); err != nil || a.Status != http.StatusOK {
		t.Fatalf("%s: %d %s", path, a.Status, a.Body)
	}
	return o
}

// TestExportByScope checks that a credential exports the sections that it may read, that the others are
// named, and that one that may read none is refused.
func TestExportByScope(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		some := export(t, p, p.Token(t, p.BaseURL, "api.lists.view", "api.segments.view"), "application/json")
		e, tree := decode(t, some)
		want := []string{"attributes", "activity_properties", "topics", "images", "templates", "workflows"}
		if diff := cmp.Diff(want, e.Omitted); diff != "" || some.Header.Get("X-Service-Omitted") != strings.Join(want, ", ") {
			t.Errorf("header %q (-want +omitted):\n%s", some.Header.Get("X-Service-Omitted"), diff)
		}
		r := manifest.Read(tree)
		if !r.Set.Declared[definitions.KindList] || !r.Set.Declared[definitions.KindSegment] || len(r.Set.Declared) != 2 {
			t.Errorf("declared %v", r.Set.Declared)
		}
		none := export(t, p, p.Token(t, p.BaseURL, "api.messages.view"), "application/zip")
		if none.Status != http.StatusForbidden || !strings.Contains(none.Body, `"code":"invalid_scope"`) || !strings.Contains(none.Header.Get("WWW-Authenticate"), "insufficient_scope") {
			t.Errorf("%d %s %s", none.Status, none.Body, none.Header)
		}
	})
}

// TestExportOfALostImage checks that an export without the content of an image is refused with its path,
// because it would look complete, and that it works again when another image is at the path. The other
// sections can be exported in between.
func TestExportOfALostImage(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		const first, second = `<svg xmlns="http://www.w3.org/2000/svg"/>`, `<svg xmlns="http://www.w3.org/2000/svg" width="1"/>`
		imported := func(image string) {
			t.Helper()
			d := map[string]any{"manifest": map[string]any{"images": []string{"static/logo.svg"}}, "files": map[string]string{"static/logo.svg": image}}
			if i := importJSON(t, p, p.Live.APIKey, "?dry_run=false", d); !i.Applied {
				t.Fatalf("%+v", faults(i))
			}
		}
		imported(first)
		lose(t, p.DataDir, first)
		for _, accept := range []string{"application/json", "application/zip"} {
			a := export(t, p, p.Live.APIKey, accept)
			if a.Status != http.StatusConflict || !strings.Contains(a.Body, "static/logo.svg") || !strings.Contains(a.Body, "api.assets.view") {
				t.Errorf("%s: %d %s", accept, a.Status, a.Body)
			}
		}
		others := core.AllScopes().Strings()
		others = slices.DeleteFunc(others, func(s string) bool { return s == "api.assets.view" })
		if e, _ := decode(t, export(t, p, p.Token(t, p.BaseURL, others...), "")); !slices.Equal(e.Omitted, []string{"images"}) {
			t.Errorf("the others: omitted %v", e.Omitted)
		}
		imported(second)
		if _, tree := decode(t, export(t, p, p.Live.APIKey, "")); string(tree["static/logo.svg"]) != second {
			t.Errorf("replaced: %q", tree["static/logo.svg"])
		}
	})
}

// lose deletes the files with a content below a folder.
func lose(t *testing.T, folder, content string) {
	t.Helper()
	lost := 0
	err := filepath.WalkDir(filepath.Join(folder, "objects"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != content {
			return err
		}
		lost++
		return os.Remove(path)
	})
	if err != nil || lost != 1 {
		t.Fatalf("%d files are lost: %v", lost, err)
	}
}
