package assistants_test

import (
	"encoding/base64"
	"encoding/json"
	"go/parser"
	"go/token"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/rest/assistants"
	"github.com/pelletier/go-toml/v2"
)

const origin = "https://mcp.example.com"

func find(t *testing.T, id string) assistants.Assistant {
	t.Helper()
	for _, a := range assistants.All(origin) {
		if a.ID == id {
			return a
		}
	}
	t.Fatalf("no assistant %s", id)
	return assistants.Assistant{}
}

// TestExamplesParse checks that every file and program parses, and that every assistant is
// told the address.
func TestExamplesParse(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, a := range assistants.All(origin) {
		addresses := 0
		for _, s := range a.Steps {
			addresses += strings.Count(s.Code, origin+"/mcp")
			if s.Text == "" || (s.Code == "") != (s.Language == "") || s.File != "" && s.Code == "" {
				t.Errorf("%s: incomplete step %+v", a.ID, s)
			}
			if err := parse(s); err != nil {
				t.Errorf("%s: %v in\n%s", a.ID, err, s.Code)
			}
		}
		if addresses == 0 || seen[a.ID] || a.ID != url.PathEscape(a.ID) {
			t.Errorf("%s: the address is not in the steps, or the id is not a good one", a.ID)
		}
		seen[a.ID] = true
	}
}

func parse(s assistants.Step) error {
	var v map[string]any
	switch s.Language {
	case assistants.JSON:
		return json.Unmarshal([]byte(s.Code), &v)
	case assistants.TOML:
		return toml.Unmarshal([]byte(s.Code), &v)
	case assistants.Go:
		_, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() error {\n"+s.Code+"\nreturn err\n}", 0)
		return err
	}
	return nil
}

// TestLinksHaveTheConfiguration checks that each link that installs the server decodes to
// the configuration in the file.
func TestLinksHaveTheConfiguration(t *testing.T) {
	t.Parallel()
	var file struct {
		Cursor map[string]any `json:"mcpServers"`
		Code   map[string]any `json:"servers"`
	}
	for _, s := range append(find(t, "cursor").Steps, find(t, "vscode").Steps...) {
		if s.Language == assistants.JSON {
			if err := json.Unmarshal([]byte(s.Code), &file); err != nil {
				t.Fatal(err)
			}
		}
	}
	link, err := url.Parse(find(t, "cursor").Install)
	if err != nil || link.Scheme != "cursor" || link.Host != "anysphere.cursor-deeplink" || link.Path != "/mcp/install" {
		t.Fatalf("%v, %v", link, err)
	}
	raw, err := base64.StdEncoding.DecodeString(link.Query().Get("config"))
	if err != nil {
		t.Fatal(err)
	}
	got := decode(t, raw)
	if diff := cmp.Diff(file.Cursor[link.Query().Get("name")], any(got)); diff != "" {
		t.Error(diff)
	}
	text, ok := strings.CutPrefix(find(t, "vscode").Install, "vscode:mcp/install?")
	unescaped, err := url.PathUnescape(text)
	if err != nil || !ok {
		t.Fatalf("%v, %v", ok, err)
	}
	got = decode(t, []byte(unescaped))
	name := got["name"].(string)
	delete(got, "name")
	if diff := cmp.Diff(file.Code[name], any(got)); diff != "" {
		t.Error(diff)
	}
}

func decode(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return v
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	text := assistants.Markdown(assistants.All(origin))
	for _, want := range []string{"## Assistants\n", "### Cursor {#cursor}\n", "[Add Mailhelm to Cursor](cursor://", "   File `.vscode/mcp.json`:\n", "   ```toml\n   [mcp_servers.mailhelm]\n   url = \"https://mcp.example.com/mcp\"\n   ```\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	got := assistants.Step{Text: "Open *Settings*, and enter `/mcp`."}.Parts()
	want := []assistants.Part{
		{Text: "Open "}, {Style: assistants.Strong, Text: "Settings"}, {Text: ", and enter "}, {Style: assistants.Code, Text: "/mcp"}, {Text: "."},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, a := range assistants.All(origin) {
		for _, s := range a.Steps {
			if strings.Count(s.Text, "`")%2 != 0 || strings.Count(s.Text, "*")%2 != 0 {
				t.Errorf("%s: a mark is not closed in %q", a.ID, s.Text)
			}
		}
	}
}
