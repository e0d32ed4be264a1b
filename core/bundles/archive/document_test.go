package archive_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
)

// errorText returns everything that a refusal says.
func errorText(err error) string {
	e, ok := errors.AsType[*core.Error](err)
	if !ok {
		return ""
	}
	return e.Message + fmt.Sprint(e.Fields)
}

func TestDocumentRoundTrip(t *testing.T) {
	t.Parallel()
	tree := archive.Tree{archive.ManifestPath: []byte("{\n  \"images\": []\n}\n"), "a.hbs": []byte("Hello <b>"), "b.hbs": []byte("\"\n\x01é"), "static/a.png": {0, 255}, "static/b.svg": []byte("<svg/>")}
	members, err := archive.AppendDocument([]byte("{"), tree, map[string]bool{"static/b.svg": true})
	if err != nil {
		t.Fatal(err)
	}
	text := append(members, '}')
	const want = `{"manifest":{"images":[]},"files":{"a.hbs":"Hello <b>","b.hbs":"\"\n\u0001é"},"images":{"static/a.png":"AP8=","static/b.svg":"PHN2Zy8+"}}`
	if string(text) != want {
		t.Errorf("%s, want %s", text, want)
	}
	var d archive.Document
	if err := json.Unmarshal(text, &d); err != nil || len(d.Images) != 2 || len(d.Files) != 2 {
		t.Fatalf("%v: %s", err, text)
	}
	got, err := d.Tree()
	if diff := cmp.Diff(tree, got); diff != "" || err != nil {
		t.Errorf("%v (-written +read):\n%s", err, diff)
	}
}

// TestDocumentOfFewFiles checks documents without files of a kind, and a manifest that is no JSON.
func TestDocumentOfFewFiles(t *testing.T) {
	t.Parallel()
	for want, tree := range map[string]archive.Tree{
		`"manifest":{},"files":{},"images":{}`:                      {archive.ManifestPath: []byte("{}\n")},
		`"manifest":{},"files":{"a":""},"images":{}`:                {archive.ManifestPath: []byte("{}"), "a": {}},
		`"manifest":{},"files":{},"images":{"a":"gA==","b":"gA=="}`: {archive.ManifestPath: []byte("{}"), "a": {0x80}, "b": {0x80}},
	} {
		if got, err := archive.AppendDocument(nil, tree, nil); err != nil || string(got) != want {
			t.Errorf("%s %v, want %s", got, err, want)
		}
	}
	if got, err := archive.AppendDocument(nil, archive.Tree{}, nil); err == nil {
		t.Errorf("%s", got)
	}
}

func TestDocumentRefuses(t *testing.T) {
	t.Parallel()
	manifest := json.RawMessage("{}")
	large := base64.StdEncoding.EncodeToString(make([]byte, archive.MaxImage+1))
	for name, test := range map[string]struct {
		document archive.Document
		want     string
	}{
		"no manifest":  {archive.Document{}, "mailhelm.json"},
		"null":         {archive.Document{Manifest: json.RawMessage("null")}, "mailhelm.json"},
		"traversal":    {archive.Document{Manifest: manifest, Files: map[string]string{"../a": ""}}, `".."`},
		"manifest too": {archive.Document{Manifest: manifest, Files: map[string]string{archive.ManifestPath: ""}}, "twice"},
		"in both":      {archive.Document{Manifest: manifest, Files: map[string]string{"a": ""}, Images: map[string]string{"a": ""}}, "twice"},
		"no base64":    {archive.Document{Manifest: manifest, Images: map[string]string{"a.png": "%"}}, "base64"},
		"large":        {archive.Document{Manifest: manifest, Images: map[string]string{"a.png": large}}, "larger than"},
		"file's size":  {archive.Document{Manifest: manifest, Files: map[string]string{"a": strings.Repeat("x", archive.MaxFile+1)}}, "larger than"},
	} {
		if _, err := test.document.Tree(); !strings.Contains(errorText(err), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
