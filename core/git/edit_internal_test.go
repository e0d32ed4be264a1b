package git

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/bundles/manifest"
)

// held is the manifest of the tests, in a form that people might give it.
const held = `{
  "templates": {
    "welcome": { "path": "mail/hello.hbs", "subject": "Hello", "testdata": "data/hello/" },
    "plain":   {"path": "mail/plain.hbs", "text": "mail/plain.txt", "testdata": "data/plain.json"}
  },
  "workflows": {}
}
`

func TestFilesOf(t *testing.T) {
	t.Parallel()
	vip := map[string]json.RawMessage{"vip": json.RawMessage(`{"name":"Ada"}`)}
	checkFiles(t, map[string]edit{
		"a template at its path": {
			core.RepositoryDefinition{Kind: "template", Key: "welcome", Source: "<p>", Subject: "Hello", TestData: vip},
			held,
			map[string]string{"prefix/mail/hello.hbs": "<p>", "prefix/data/hello/vip.json": "{\n  \"name\": \"Ada\"\n}\n", "prefix/data/hello/old.json": "removed"},
			"",
		},
		"another subject": {
			core.RepositoryDefinition{Kind: "template", Key: "welcome", Source: "<p>", Subject: "Hi <you>"},
			held,
			map[string]string{"prefix/mail/hello.hbs": "<p>"},
			strings.Replace(held, `"Hello"`, `"Hi <you>"`, 1),
		},
		"a first text": {
			core.RepositoryDefinition{Kind: "template", Key: "welcome", Source: "<p>", Text: "text"},
			held,
			map[string]string{"prefix/mail/hello.hbs": "<p>", "prefix/templates/welcome.txt": "text"},
			strings.Replace(held, `"data/hello/" }`, `"data/hello/", "text": "templates/welcome.txt" }`, 1),
		},
		"test data in one file": {
			core.RepositoryDefinition{Kind: "template", Key: "plain", Source: "<p>", Text: "text", TestData: vip},
			held,
			map[string]string{"prefix/mail/plain.hbs": "<p>", "prefix/mail/plain.txt": "text", "prefix/data/plain.json": "[\n  {\n    \"_name\": \"vip\",\n    \"name\": \"Ada\"\n  }\n]\n"},
			"",
		},
		"a new template": {
			core.RepositoryDefinition{Kind: "template", Key: "a/b", Source: "<p>", Subject: "New"},
			held,
			map[string]string{"prefix/templates/a/b.hbs": "<p>"},
			strings.Replace(held, "plain.json\"}\n", "plain.json\"},\n    \"a/b\": {\"path\": \"templates/a/b.hbs\", \"subject\": \"New\"}\n", 1),
		},
		"a first workflow": {
			core.RepositoryDefinition{Kind: "workflow", Key: "trial", Source: "flow"},
			held,
			map[string]string{"prefix/workflows/trial.flow": "flow"},
			strings.Replace(held, "{}", "{\n    \"trial\": {\"path\": \"workflows/trial.flow\"}\n  }", 1),
		},
		"a first segment": {
			core.RepositoryDefinition{Kind: "segment", Key: "vip", Source: "true", Name: "VIPs"},
			held,
			map[string]string{"prefix/audience/vip.predicate": "true"},
			strings.Replace(held, "{}\n", "{},\n  \"segments\": {\"vip\": {\"name\": \"VIPs\", \"path\": \"audience/vip.predicate\"}}\n", 1),
		},
		"no manifest": {
			core.RepositoryDefinition{Kind: "workflow", Key: "trial", Source: "flow"},
			"",
			map[string]string{"prefix/workflows/trial.flow": "flow"},
			"{\n  \"workflows\": {\"trial\": {\"path\": \"workflows/trial.flow\"}}\n}\n",
		},
	})
}

func TestFilesOfRemoves(t *testing.T) {
	t.Parallel()
	checkFiles(t, map[string]edit{
		"no test data in a folder": {
			core.RepositoryDefinition{Kind: "template", Key: "welcome", Source: "<p>", TestData: map[string]json.RawMessage{}},
			held,
			map[string]string{"prefix/mail/hello.hbs": "<p>", "prefix/data/hello/vip.json": "removed", "prefix/data/hello/old.json": "removed"},
			strings.Replace(held, `, "testdata": "data/hello/"`, "", 1),
		},
		"no text and no test data in a file": {
			core.RepositoryDefinition{Kind: "template", Key: "plain", Source: "<p>", NoText: true, TestData: map[string]json.RawMessage{}},
			held,
			map[string]string{"prefix/mail/plain.hbs": "<p>", "prefix/mail/plain.txt": "removed", "prefix/data/plain.json": "removed"},
			strings.Replace(held, `, "text": "mail/plain.txt", "testdata": "data/plain.json"`, "", 1),
		},
		"no text of a template without one": {
			core.RepositoryDefinition{Kind: "template", Key: "welcome", Source: "<p>", NoText: true},
			held,
			map[string]string{"prefix/mail/hello.hbs": "<p>"},
			"",
		},
	})
}

// edit is a change of a manifest, with the files that it must give. next is the manifest after the change,
// "" for the same one.
type edit struct {
	change core.RepositoryDefinition
	text   string
	files  map[string]string
	next   string
}

func checkFiles(t *testing.T, edits map[string]edit) {
	t.Helper()
	for name, test := range edits {
		if test.next != "" {
			test.files["prefix/"+archive.ManifestPath] = test.next
		}
		if diff := cmp.Diff(test.files, textsOf(t, test.change, test.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// textsOf returns the files of a change to a repository whose manifest is the text.
func textsOf(t *testing.T, change core.RepositoryDefinition, manifest string) map[string]string {
	t.Helper()
	got, err := filesOf(core.RepositoryChange{Definitions: []core.RepositoryDefinition{change}}, Connection{
		PathPrefix: "prefix", Manifest: []byte(manifest), TestData: []string{"data/hello/old.json", "data/hello/vip.json", "data/other/old.json"},
	})
	if err != nil {
		t.Error(err)
	}
	texts := map[string]string{}
	for path, content := range got {
		texts[path] = string(content)
		if content == nil {
			texts[path] = "removed"
		}
	}
	return texts
}

func TestRemoveMember(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a": {"b": 1}}`: `{"a": {}}`, `{"a": { "b" : 1 , "c":2}}`: `{"a": { "c":2}}`, "{\"a\": {\n  \"x\": \"\\\"\",\n  \"b\": {\"y\": []}\n}}": "{\"a\": {\n  \"x\": \"\\\"\"\n}}",
		`{"a": {"c": 1}}`: `{"a": {"c": 1}}`, `{}`: `{}`, ` {"a": {"x": 0, "b": 1,"c":2}, "b": 3}`: ` {"a": {"x": 0, "c":2}, "b": 3}`,
	} {
		if got, err := removeMember([]byte(text), "a", "b"); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
	if _, err := removeMember([]byte(`[]`), "a", "b"); err == nil {
		t.Error("removed from an array")
	}
}

func TestFilesOfRefuses(t *testing.T) {
	t.Parallel()
	change := core.RepositoryChange{Definitions: []core.RepositoryDefinition{{Kind: "workflow", Key: "trial", Source: "flow"}}}
	for _, text := range []string{"[]", "null", "{", `{"workflows": []}`, `{"workflows": {"trial": 1}}`, `{"a": "` + strings.Repeat("x", archive.MaxManifest) + `"}`} {
		if _, err := filesOf(change, Connection{Manifest: []byte(text)}); !isRefusal(err) {
			t.Errorf("%.30q: %v, want a refusal", text, err)
		}
	}
}

func isRefusal(err error) bool {
	_, ok := errors.AsType[*Refusal](err)
	return ok
}

// FuzzFilesOf checks that a definition that is written into any manifest is read from it, and that
// the manifest keeps its other members.
func FuzzFilesOf(f *testing.F) {
	f.Add(held, "trial")
	f.Add(`{"workflows":{"trial":{"path":"a.flow"},"b":{}},"x":[1,{"a":2}]}`, "trial")
	f.Add(` {"workflows" : {  } , "\u0077": "\"}{" } `, "a")
	f.Fuzz(func(t *testing.T, text, key string) {
		key = strings.ToValidUTF8(key, "?")
		change := core.RepositoryChange{Definitions: []core.RepositoryDefinition{{Kind: "workflow", Key: key, Source: "flow"}}}
		files, err := filesOf(change, Connection{Manifest: []byte(text)})
		if err != nil {
			if json.Valid([]byte(text)) && !isRefusal(err) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		next, changed := files[archive.ManifestPath]
		if !changed {
			return
		}
		var before, after map[string]json.RawMessage
		if err := json.Unmarshal(next, &after); err != nil {
			t.Fatalf("%q became %q: %v", text, next, err)
		}
		_ = json.Unmarshal([]byte(text), &before) // "" is a manifest without members
		for name := range before {
			if name != "workflows" && !slices.Equal(before[name], after[name]) {
				t.Errorf("%q became %q", text, next)
			}
		}
		tree := maps.Clone(files)
		got := manifest.Read(tree)
		if len(got.Set.Workflows) == 0 && !got.HasErrors() {
			t.Errorf("%q became %q, in which %q is missing", text, next, key)
		}
	})
}
