package tools_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/goldentest"
	"github.com/mailhelm/mailhelm/tools"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "write the golden files")

func compareGolden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := goldentest.Write(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run the test with -update if the change is meant", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got); run the test with -update if the change is meant:\n%s", path, diff)
	}
}

// TestToolsAreAsPromised compares the names of [tools.Table] and the declared operations
// with testdata/table.txt. Each line has the name, the scopes, and whether a call can reach
// people outside the organization. That file is written by hand, because it also lists
// tools whose operations do not exist yet.
func TestToolsAreAsPromised(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/table.txt")
	if err != nil {
		t.Fatal(err)
	}
	promises := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(promises) != 30 || len(tools.Table()) != len(promises) {
		t.Fatalf("the table has %d tools, promised are %d", len(tools.Table()), len(promises))
	}
	promised := regexp.MustCompile(`^([a-z_]+) \[([a-z_. ]+)\] (true|false)$`)
	declared := map[string]core.OperationInfo{}
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		declared[op.Info().Name] = op.Info()
	}
	for i, name := range tools.Table() {
		parts := promised.FindStringSubmatch(promises[i])
		if parts == nil || parts[1] != name {
			t.Fatalf("%s is promised as %q", name, promises[i])
		}
		for scope := range strings.FieldsSeq(parts[2]) {
			if !core.Scope(scope).IsKnown() {
				t.Errorf("%s needs the unknown scope %s", name, scope)
			}
		}
		info, there := declared[name]
		if got := fmt.Sprint(name, " ", core.Scopes(info.Scopes).Strings(), " ", info.ReachesPeople); there && got != promises[i] {
			t.Errorf("%s is declared, %s is promised", got, promises[i])
		}
	}
}

// TestGoldenToolsAsListed compares each tool in tools/list with its file in testdata/tools.
// It also fails for a file whose tool was renamed or removed.
func TestGoldenToolsAsListed(t *testing.T) {
	t.Parallel()
	const folder = "testdata/tools"
	w := newWorldOf(t, catalogue.Operations(catalogue.Domains{}))
	r := w.send(rpc(legacy, "tools/list", nil))
	listed := r.result(t).Result.Tools
	for _, tool := range listed {
		text, err := json.MarshalIndent(tool, "", "  ")
		w.must(err)
		compareGolden(t, filepath.Join(folder, tool["name"].(string)+".json"), append(text, '\n'))
	}
	files, err := filepath.Glob(folder + "/*.json")
	w.must(err)
	if len(files) != len(listed) {
		t.Errorf("%d files for %d tools: %v", len(files), len(listed), files)
	}
}

// TestDescriptionsSayWhatWhenReturnsAndWhatNot checks that each description has the four
// parts that [core.Op] requires of a purpose, in their order. An agent chooses a tool by its
// description alone.
func TestDescriptionsSayWhatWhenReturnsAndWhatNot(t *testing.T) {
	t.Parallel()
	fourParts := regexp.MustCompile(`^[A-Z][a-z]+s [^.]+\. (.* )?(Use|Call) it [^.]+\. (.* )?Returns [^.]+\. (.* )?It [^.]*\b(not|no|nothing|nobody)\b[^.]*\.$`)
	w := newWorldOf(t, catalogue.Operations(catalogue.Domains{}))
	for _, tool := range w.send(rpc(legacy, "tools/list", nil)).result(t).Result.Tools {
		description, _ := tool["description"].(string)
		if !fourParts.MatchString(description) || strings.HasPrefix(description, "Returns ") {
			t.Errorf("%s lacks one of: what it does; `Use it` or `Call it`; `Returns`; a last sentence `It … not`: %q", tool["name"], description)
		}
		if tool["title"] == nil || tool["title"] == "" {
			t.Errorf("%s has no title", tool["name"])
		}
	}
}

// bytesPerTool is the size of tools/list that is allowed for each tool on average, with its
// output schema: 48,000 bytes for the 30 tools of [tools.Table]. Agents pay for the list in
// every conversation, and need from it how to fill in each parameter.
const bytesPerTool = 1600

func TestListIsSmall(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, catalogue.Operations(catalogue.Domains{}))
	for _, revision := range allRevisions {
		r := w.send(rpc(revision, "tools/list", nil))
		n := len(r.result(t).Result.Tools)
		t.Logf("%s: %d tools in %d of %d bytes, %d a tool", revision, n, len(r.body), bytesPerTool*n, len(r.body)/n)
		if len(r.body) > bytesPerTool*n {
			t.Errorf("%s: %d tools in %d bytes, more than %d", revision, n, len(r.body), bytesPerTool*n)
		}
	}
}

// TestAToolNeedsTheScopesOfItsOperation checks that tools/list shows a tool only to callers
// with all scopes of its operation. If a call is refused, the header WWW-Authenticate must
// name these scopes.
func TestAToolNeedsTheScopesOfItsOperation(t *testing.T) {
	t.Parallel()
	lookup := func(scopes ...core.Scope) core.Operation {
		return core.Declare(core.Op[nothingIn, contactOut]{
			Name: "contacts_lookup", Purpose: "Reads.", Scopes: scopes,
			Do: func(context.Context, *core.Call, nothingIn) (contactOut, error) { return contactOut{}, nil },
		})
	}
	for _, tc := range []struct {
		scopes []core.Scope
		listed bool // true if tools/list shows the tool to a caller whose only scope is api.contacts.view
	}{
		{nil, true},
		{[]core.Scope{core.ContactsView}, true},
		{[]core.Scope{core.ContactsManage}, false},
		{[]core.Scope{core.ContactsView, core.ListsView}, false},
	} {
		w := newWorldOf(t, []core.Operation{lookup(tc.scopes...)})
		listed := w.send(rpc(legacy, "tools/list", nil).withToken("reader")).result(t).Result.Tools
		if (len(listed) == 1) != tc.listed {
			t.Errorf("with %v %d tools are listed", tc.scopes, len(listed))
		}
		challenge := w.send(call(legacy, "contacts_lookup", nil).withToken("reader")).header.Get("WWW-Authenticate")
		if needs := strings.Join(core.Scopes(tc.scopes).Strings(), " "); !tc.listed && !strings.Contains(challenge, `scope="`+needs+`"`) {
			t.Errorf("with %v the challenge is %s", tc.scopes, challenge)
		}
	}
}

// TestAnswersFitTheOutputSchema checks that results and failures of tools match the tool's
// output schema. Clients validate results, and some validate failures too.
func TestAnswersFitTheOutputSchema(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	schemas := map[string]*validator.Schema{}
	for _, tool := range w.send(rpc(legacy, "tools/list", nil)).result(t).Result.Tools {
		c := validator.NewCompiler()
		w.must(c.AddResource("schema.json", tool["outputSchema"]))
		schemas[tool["name"].(string)] = c.MustCompile("schema.json")
	}
	for _, tc := range []struct {
		tool      string
		arguments map[string]any
	}{
		{"contacts_lookup", map[string]any{"email": "ann@example.com"}},
		{"contacts_lookup", map[string]any{"email": "nobody@example.com"}},
		{"contacts_lookup", nil},
		{"audience_get_schema", nil},
		{"broadcasts_send", map[string]any{"broadcast_id": "b1"}},
		{"broadcasts_send", map[string]any{"broadcast_id": "b1", "confirmation_token": "x"}},
	} {
		a := w.send(call(legacy, tc.tool, tc.arguments)).result(t)
		if err := schemas[tc.tool].Validate(any(a.Result.Structured)); err != nil {
			t.Errorf("%s%v: %v", tc.tool, tc.arguments, err)
		}
	}
	for _, wrong := range []map[string]any{{"email": 7}, {"writes": "many"}} {
		if err := schemas["contacts_lookup"].Validate(any(wrong)); err == nil {
			t.Errorf("the schema allows %v", wrong)
		}
	}
}
