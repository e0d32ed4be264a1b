package bundle_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/bundles/plan"
)

// fakeAPI answers imports in turn, and records what was sent.
type fakeAPI struct {
	*httptest.Server
	mu      sync.Mutex
	answers []any
	queries []string
	trees   []archive.Tree
}

// serve starts a fakeAPI. An answer that is a text is a problem document with status 403.
func serve(t *testing.T, answers ...any) *fakeAPI {
	t.Helper()
	f := &fakeAPI{answers: answers}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		tree, zipErr := archive.ReadZip(body)
		if err != nil || zipErr != nil || r.Header.Get("Authorization") != "Bearer sk_live_x" || r.Header.Get("Content-Type") != "application/zip" || r.URL.Path != "/v1/import" {
			t.Errorf("%v %v %v %v", r.URL, r.Header, err, zipErr)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		answer := f.answers[min(len(f.queries), len(f.answers)-1)]
		f.queries, f.trees = append(f.queries, r.URL.RawQuery), append(f.trees, tree)
		if text, ok := answer.(string); ok {
			w.WriteHeader(http.StatusForbidden)
			answer = json.RawMessage(text)
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(f.Close)
	return f
}

// imported is the answer of the API to an import.
type imported struct {
	DryRun       bool          `json:"dry_run"`
	Plan         *plan.Plan    `json:"plan"`
	Applied      bool          `json:"applied"`
	Objects      []plan.Object `json:"objects"`
	AppliedUntil string        `json:"applied_until,omitempty"`
	Error        string        `json:"error,omitempty"`
}

// held has definitions of an organization, and wanted those of a bundle.
func held() *definitions.Set {
	return &definitions.Set{
		Attributes: []definitions.Attribute{{Name: "old", Type: "string"}, {Name: "plan", Type: "string"}},
		Segments:   []definitions.Segment{{Key: "vip", Name: "VIP", Predicate: "attr.old = 1"}},
		Workflows:  []definitions.Workflow{{Key: "gone", Source: "1"}},
	}
}

// planOf returns the plan of a bundle, in which what faults names is wrong.
func planOf(wanted *definitions.Set, faults map[definitions.Ref][]definitions.Diagnostic) *plan.Plan {
	wanted.Declared = map[definitions.Kind]bool{definitions.KindAttribute: true, definitions.KindSegment: true, definitions.KindWorkflow: true}
	return plan.Make(plan.Question{
		Held: held(), Wanted: wanted, Prune: true, Faults: faults,
		Paths:  map[definitions.Ref]string{{Kind: definitions.KindAttribute, Key: "new"}: "audience/attributes.json", {Kind: definitions.KindSegment, Key: "vip"}: "audience/vip.predicate"},
		UsedBy: func([]definitions.Segment, string) []string { return []string{"vip"} },
	})
}

func changing() *plan.Plan {
	return planOf(&definitions.Set{
		Attributes: []definitions.Attribute{{Name: "new", Type: "number"}, {Name: "plan", Type: "string"}},
		Segments:   []definitions.Segment{{Key: "vip", Name: "Best", Predicate: "attr.old = 1"}},
	}, nil)
}

func faulty() *plan.Plan {
	return planOf(&definitions.Set{Segments: []definitions.Segment{{Key: "vip", Name: "\x1b[31mBest", Predicate: "x"}}}, map[definitions.Ref][]definitions.Diagnostic{
		{Kind: definitions.KindSegment, Key: "vip"}: {{Severity: definitions.Error, Code: "invalid_predicate", Message: "no \x1b[31mattribute.", Line: 3, Column: 7}},
	})
}

func same() *plan.Plan {
	wanted := held()
	wanted.Declared = map[definitions.Kind]bool{definitions.KindAttribute: true}
	return plan.Make(plan.Question{Held: held(), Wanted: wanted})
}

func TestPlan(t *testing.T) {
	t.Parallel()
	folder := folderOf(t, nil)
	api := serve(t, imported{DryRun: true, Plan: changing()})
	got := run(t, api.URL, "plan", folder, "--prune")
	got.expect(t, cli.ExitChanges)
	want := `attributes
  + new  FOLDER/audience/attributes.json
  = old  (stays)
    warning: It stays, because these segments test it: "vip". Change or remove them, and apply the bundle again.
segments
  ~ vip  FOLDER/audience/vip.predicate
workflows
  - gone  (archive)

Plan: 1 to create, 1 to update, 1 to archive, 1 unchanged, 1 kept.
`
	if text := strings.ReplaceAll(got.out, folder, "FOLDER"); text != want || got.errs != "" {
		t.Errorf("got\n%s%s\nwant\n%s", text, got.errs, want)
	}
	if api.queries[0] != "dry_run=true&prune=true" || string(api.trees[0]["mailhelm.json"]) != read(t, folder, "mailhelm.json") || len(api.trees[0]) != 9 || api.trees[0]["README.md"] != nil {
		t.Errorf("%s %v", api.queries[0], api.trees[0].Paths())
	}

	got = run(t, serve(t, imported{DryRun: true, Plan: faulty()}).URL, "plan", folder)
	got.expect(t, cli.ExitFailure, "  ! vip  (invalid)\n    "+folder+"/audience/vip.predicate:3:7: error: no [31mattribute.\n", "1 invalid", "cannot be applied")
	if strings.Contains(got.out, "\x1b") {
		t.Errorf("a text of the server has control characters: %q", got.out)
	}
	run(t, serve(t, imported{DryRun: true, Plan: same()}).URL, "plan", folder).expect(t, cli.ExitOK, "No changes. The organization has the definitions of the folder.\n")
	got = run(t, serve(t, imported{DryRun: true, Plan: changing()}).URL, "plan", folder, "--json")
	got.expect(t, cli.ExitChanges)
	var printed imported
	if err := json.Unmarshal([]byte(got.out), &printed); err != nil || len(printed.Plan.Objects) != 5 {
		t.Errorf("%v: %s", err, got.out)
	}
}

func TestPlanIsRefused(t *testing.T) {
	t.Parallel()
	folder := folderOf(t, nil)
	for name, test := range map[string]struct {
		answer any
		want   []string
	}{
		"a scope":        {`{"code":"invalid_scope","detail":"This credential lacks ` + "`" + `api.lists.manage` + "`" + `.","next_step":"Add it."}`, []string{"lacks api.lists.manage. Add it."}},
		"a key":          {`{"code":"invalid_key","detail":"x"}`, []string{"does not accept the API key. Check MAILHELM_API_KEY"}},
		"another server": {`["\u001b[1mhello"]`, []string{"403 Forbidden: this is not the API; check --server"}},
		"another answer": {map[string]string{"x": "y"}, []string{"not that of an import"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, serve(t, test.answer).URL, "plan", folder).expect(t, cli.ExitFailure, test.want...)
		})
	}
	run(t, "http://x/y", "plan", folder).expect(t, cli.ExitFailure, "must be an address without a path")
	stopped := serve(t, nil)
	stopped.Close()
	run(t, stopped.URL, "plan", folder).expect(t, cli.ExitFailure, "does not answer")
	run(t, stopped.URL, "plan", folder, "--api-key", "").expect(t, cli.ExitFailure, "MAILHELM_API_KEY")
}

func TestApply(t *testing.T) {
	t.Parallel()
	folder := folderOf(t, nil)
	dry, objects := imported{DryRun: true, Plan: changing()}, changing().Objects
	made := []plan.Object{objects[0], objects[3], objects[4]} // created, updated and archived

	// The input has an answer, but is no terminal.
	api := serve(t, dry)
	run(t, api.URL, "apply", folder).expect(t, cli.ExitFailure, "Plan: 1 to create", "nothing was applied", "--yes")
	if len(api.queries) != 1 {
		t.Errorf("%v", api.queries)
	}

	api = serve(t, dry, imported{Plan: changing(), Applied: true, Objects: made})
	run(t, api.URL, "apply", folder, "--yes", "--prune").expect(t, cli.ExitOK, "Plan: 1 to create", "\nApplied: 1 created, 1 updated, 1 archived.\n")
	if got := strings.Join(api.queries, " "); got != "dry_run=true&prune=true dry_run=false&prune=true" {
		t.Error(got)
	}

	api = serve(t, imported{DryRun: true, Plan: same()})
	run(t, api.URL, "apply", folder, "--yes").expect(t, cli.ExitOK, "No changes.")
	if len(api.queries) != 1 {
		t.Errorf("an import without changes: %v", api.queries)
	}
	run(t, serve(t, imported{DryRun: true, Plan: faulty()}).URL, "apply", folder, "--yes").expect(t, cli.ExitFailure, "cannot be applied")

	partial := imported{Plan: changing(), Objects: made[:1], AppliedUntil: "attribute", Error: "The topic \x1b[1mis taken. Rename it."}
	got := run(t, serve(t, dry, partial).URL, "apply", folder, "--yes")
	got.expect(t, cli.ExitFailure, "The import stopped: The topic [1mis taken. Rename it.\nApplied until attribute (applied_until): 1 created.\nCorrect the cause and run the command again.")
	none := imported{Plan: changing(), Error: "Refused."}
	run(t, serve(t, dry, none).URL, "apply", folder, "--yes").expect(t, cli.ExitFailure, "The import stopped: Refused.\nNothing was applied.\n")
	run(t, serve(t, dry, imported{Plan: faulty()}).URL, "apply", folder, "--yes").expect(t, cli.ExitFailure, "cannot be applied")

	api = serve(t, partial)
	got = run(t, api.URL, "apply", folder, "--yes", "--json")
	got.expect(t, cli.ExitFailure, `"applied_until": "attribute"`)
	if len(api.queries) != 1 || !strings.HasPrefix(got.out, "{") {
		t.Errorf("%v %s", api.queries, got.out)
	}
	run(t, api.URL, "apply", folder, "--json").expect(t, cli.ExitFailure, "--json needs --yes")
}
