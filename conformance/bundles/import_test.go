package bundles

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/bundles/plan"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// imported is the answer of an import.
type imported struct {
	DryRun       bool `json:"dry_run"`
	Plan         plan.Plan
	Applied      bool
	Objects      []plan.Object
	AppliedUntil *string `json:"applied_until"`
	Error        *string
}

// importJSON imports a document with a query, such as "?dry_run=false".
func importJSON(t *testing.T, p *product.Product, bearer, query string, document any) imported {
	t.Helper()
	body, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return answered(t, p.Send(t, product.Request{Method: http.MethodPost, URL: p.BaseURL + "/v1/import" + query, Bearer: bearer, Body: string(body)}))
}

// importZip imports files as a zip archive.
func importZip(t *testing.T, p *product.Product, bearer, query string, tree archive.Tree) imported {
	t.Helper()
	var packed bytes.Buffer
	if err := archive.WriteZip(&packed, tree); err != nil {
		t.Fatal(err)
	}
	return answered(t, p.Send(t, product.Request{
		Method: http.MethodPost, URL: p.BaseURL + "/v1/import" + query, Bearer: bearer, Body: packed.String(), Header: map[string]string{"Content-Type": "application/zip"},
	}))
}

func answered(t *testing.T, a product.Answer) (i imported) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.Body), &i); err != nil || a.Status != http.StatusOK {
		t.Fatalf("%d %s: %v", a.Status, a.Body, err)
	}
	return i
}

// faults returns the errors of a plan.
func faults(i imported) (all []definitions.Diagnostic) {
	for _, d := range i.Plan.Diagnostics {
		if d.Severity == definitions.Error {
			all = append(all, d)
		}
	}
	for _, o := range i.Plan.Objects {
		for _, d := range o.Diagnostics {
			if d.Severity == definitions.Error {
				all = append(all, d)
			}
		}
	}
	return all
}

// TestImportOfAnExport imports the export of one organization into another one: the plan changes nothing,
// its application makes the exports equal byte for byte, and importing again changes nothing, in the
// organization that exported too. Segments and workflows test and use what the same bundle creates.
func TestImportOfAnExport(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		p := product.Start(t, product.Options{Postgres: postgres})
		add(t, p)
		author(t, p)
		key, other := p.Live.APIKey, p.Other.Live.APIKey
		e, tree := decode(t, export(t, p, key, ""))
		before := export(t, p, other, "").Body

		planned := importJSON(t, p, other, "", e.Document)
		if !planned.DryRun || !planned.Plan.Applicable || planned.Applied || len(planned.Objects) != 0 || planned.Plan.Totals[plan.Create] == 0 {
			t.Fatalf("%+v, errors %+v", planned.Plan.Totals, faults(planned))
		}
		if after := export(t, p, other, "").Body; after != before {
			t.Error("a dry run changed definitions")
		}
		audited := countAudit(t, p)
		done := importZip(t, p, other, "?dry_run=false&prune=true", tree)
		if !done.Applied || done.Error != nil || done.AppliedUntil != nil || len(done.Objects) != done.Plan.Totals[plan.Create]+done.Plan.Totals[plan.Update]+done.Plan.Totals[plan.Archive]+done.Plan.Totals[plan.Delete] {
			t.Fatalf("%+v %v", done, done.Error)
		}
		if kinds := kindsOf(done.Objects); countAudit(t, p)-audited != len(kinds) {
			t.Errorf("%d lines in the audit log for %v", countAudit(t, p)-audited, kinds)
		}
		_, copied := decode(t, export(t, p, other, ""))
		for _, path := range slices.Concat(tree.Paths(), copied.Paths()) {
			if !bytes.Equal(tree[path], copied[path]) {
				t.Errorf("%s differs:\n%s\n%s", path, tree[path], copied[path])
			}
		}
		audited = countAudit(t, p)
		for _, bearer := range []string{key, other} {
			again := importZip(t, p, bearer, "?dry_run=false&prune=true", tree)
			if len(again.Objects) != 0 || !again.Applied || len(again.Plan.Totals) != 1 || again.Plan.Totals[plan.Unchanged] != len(again.Plan.Objects) {
				t.Errorf("again: %+v", again.Plan.Totals)
			}
		}
		if countAudit(t, p) != audited {
			t.Error("an import that changed nothing is in the audit log")
		}
	})
}

// countAudit returns the number of lines about imports in the audit log of the other organization.
func countAudit(t *testing.T, p *product.Product) int {
	t.Helper()
	lines, err := p.DB.Audit().FindAudit(t.Context(), p.Other.OrgID, access.AuditFilter{Action: "bundles_import", Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	return len(lines)
}

func kindsOf(all []plan.Object) []definitions.Kind {
	var kinds []definitions.Kind
	for _, o := range all {
		if !slices.Contains(kinds, o.Kind) {
			kinds = append(kinds, o.Kind)
		}
	}
	return kinds
}

// document is a bundle with definitions of all kinds that name each other.
func document() map[string]any {
	return map[string]any{
		"manifest": map[string]any{
			"attributes": "audience/attributes.json", "activity_properties": "audience/activity_properties.json",
			"lists":     map[string]any{"tasters": map[string]any{"name": "Tasters"}},
			"topics":    map[string]any{"harvest": map[string]any{"default_subscription_status": "OPT_IN"}},
			"segments":  map[string]any{"regulars": map[string]any{"path": "audience/regulars.predicate"}, "best": map[string]any{"path": "audience/best.predicate"}},
			"templates": map[string]any{"harvest": map[string]any{"path": "templates/harvest.hbs", "subject": "Harvest", "topic": "harvest", "tags": []string{"autumn"}}},
			"workflows": map[string]any{"harvest": map[string]any{"path": "workflows/harvest.flow"}},
		},
		"files": map[string]string{
			"audience/attributes.json":          `{"type":"object","properties":{"cups":{"type":"number"}}}`,
			"audience/activity_properties.json": `{"cup.drunk":{"size":{"type":"number"}}}`,
			"audience/regulars.predicate":       `attr.cups > 3 and in list "tasters" and subscribed to "harvest"`,
			"audience/best.predicate":           `in segment "regulars" and attr.cups > 9`,
			"templates/harvest.hbs":             `<p>Dear {{first_name}}</p>`,
			"workflows/harvest.flow":            "workflow \"Harvest\" v1 {\n  enter on segment \"best\"\n\n  send \"harvest\" via topic \"harvest\"\n}\n",
		},
	}
}

// set replaces a file of a document.
func set(d map[string]any, path, content string) map[string]any {
	d["files"].(map[string]string)[path] = content
	return d
}

// TestImportOfBrokenBundles checks that one error keeps all of a bundle from being applied, and that
// diagnostics name file, line and column.
func TestImportOfBrokenBundles(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		key := p.Other.Live.APIKey
		before := export(t, p, key, "").Body
		for name, c := range map[string]struct {
			document map[string]any
			want     definitions.Diagnostic
			message  string
		}{
			"predicate":     {set(document(), "audience/best.predicate", "attr.cups > 9 and\n  attr.cusp = 1"), definitions.Diagnostic{Code: "invalid_predicate", Path: "audience/best.predicate", Line: 2, Column: 3}, "cups"},
			"circle":        {set(document(), "audience/regulars.predicate", `in segment "best"`), definitions.Diagnostic{Code: "invalid_predicate", Path: "audience/regulars.predicate", Line: 1, Column: 1}, "tests itself"},
			"workflow":      {set(document(), "workflows/harvest.flow", "workflow \"Harvest\" v1 {\n  enter on segment \"bestt\"\n  wait 1 day\n}\n"), definitions.Diagnostic{Code: "invalid_workflow", Path: "workflows/harvest.flow", Line: 2, Column: 20}, "best"},
			"template":      {set(document(), "templates/harvest.hbs", "<p>\n  {{#if a}}</p>"), definitions.Diagnostic{Code: "invalid_template", Path: "templates/harvest.hbs", Line: 2, Column: 3}, "if"},
			"attribute":     {set(document(), "audience/attributes.json", `{"type":"object","properties":{"Cups":{"type":"number"}}}`), definitions.Diagnostic{Code: "validation_failed", Path: "audience/attributes.json"}, "`name`"},
			"manifest":      {set(document(), "audience/attributes.json", "{\n  \"type\": [],\n}"), definitions.Diagnostic{Code: "invalid_json", Path: "audience/attributes.json", Line: 3, Column: 1}, ""},
			"two templates": {set(document(), "templates/harvest.hbs", ""), definitions.Diagnostic{Code: "invalid_template", Path: "templates/harvest.hbs"}, "html"},
		} {
			i := importJSON(t, p, key, "?dry_run=false", c.document)
			found := faults(i)
			at := slices.IndexFunc(found, func(d definitions.Diagnostic) bool {
				return d.Code == c.want.Code && d.Path == c.want.Path && d.Line == c.want.Line && d.Column == c.want.Column && strings.Contains(d.Message, c.message)
			})
			if at < 0 || i.Plan.Applicable || i.Applied || len(i.Objects) > 0 {
				t.Errorf("%s: applicable %v, errors %+v", name, i.Plan.Applicable, found)
			}
		}
		if export(t, p, key, "").Body != before {
			t.Error("a bundle with an error was applied")
		}
		whole := importJSON(t, p, key, "?dry_run=false", document())
		if !whole.Applied || len(faults(whole)) > 0 {
			t.Fatalf("%+v %+v %v", whole.Plan.Totals, faults(whole), whole.Error)
		}
		for _, c := range [][2]string{{"segments/regulars", "active"}, {"segments/best", "active"}, {"workflows/harvest", "draft"}} {
			if o := objectOf(t, p, key, "/v1/"+c[0]); o["status"] != c[1] {
				t.Errorf("%s: %v", c[0], o["status"])
			}
		}
	})
}

// TestPrune checks what a bundle removes: only definitions of sections that it has, and no attribute that
// a remaining segment tests. What is removed can be defined again.
func TestPrune(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		p := product.Start(t, product.Options{Postgres: postgres})
		key := p.Other.Live.APIKey
		if i := importJSON(t, p, key, "?dry_run=false&prune=true", document()); !i.Applied {
			t.Fatalf("%+v %v", faults(i), i.Error)
		}
		less := document()
		m := less["manifest"].(map[string]any)
		delete(m, "segments")
		m["lists"], m["topics"], m["workflows"], m["templates"] = map[string]any{}, map[string]any{}, map[string]any{}, map[string]any{}
		set(set(less, "audience/attributes.json", `{"type":"object"}`), "audience/activity_properties.json", "{}")
		i := importJSON(t, p, key, "?dry_run=false&prune=true", less)
		want := map[definitions.Ref]plan.Action{
			{Kind: definitions.KindAttribute, Key: "cups"}: "skip", {Kind: definitions.KindActivityProperty, Key: `cup\.drunk.size`}: plan.Delete,
			{Kind: definitions.KindList, Key: "tasters"}: plan.Archive, {Kind: definitions.KindTopic, Key: "harvest"}: plan.Archive,
			{Kind: definitions.KindWorkflow, Key: "harvest"}: plan.Archive,
		}
		for _, o := range i.Plan.Objects {
			ref := definitions.Ref{Kind: o.Kind, Key: o.Key}
			if o.Action != want[ref] {
				t.Errorf("%v: %s", ref, o.Action)
			}
			if o.Action == "skip" && (len(o.Diagnostics) != 1 || o.Diagnostics[0].Code != plan.ReferencedBy || !strings.Contains(o.Diagnostics[0].Message, "regulars")) {
				t.Errorf("%v: %+v", ref, o.Diagnostics)
			}
			delete(want, ref)
		}
		if len(want) > 0 || !i.Applied {
			t.Errorf("not in the plan: %v, %v", want, i.Error)
		}
		if o := objectOf(t, p, key, "/v1/segments/regulars"); o["status"] != "invalid" {
			t.Errorf("a segment that tests an archived list is %v", o["status"])
		}
		again := importJSON(t, p, key, "?dry_run=false&prune=true", document())
		if !again.Applied || again.Plan.Totals[plan.Create] != 4 {
			t.Fatalf("%+v %+v %v", again.Plan.Totals, faults(again), again.Error)
		}
		if o := objectOf(t, p, key, "/v1/workflows/harvest"); o["status"] != "draft" {
			t.Errorf("a workflow that is defined again is %v", o["status"])
		}
		if i := importJSON(t, p, key, "", document()); i.Plan.Totals[plan.Unchanged] != len(i.Plan.Objects) {
			t.Errorf("%+v", i.Plan.Totals)
		}
	})
}

// TestImportByScope checks that each section needs its scope, with the refusal that names it.
func TestImportByScope(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		send := func(bearer, query, body string) product.Answer {
			return p.Send(t, product.Request{Method: http.MethodPost, URL: p.BaseURL + "/v1/import" + query, Bearer: bearer, Body: body})
		}
		for section, scope := range map[string]string{
			`"attributes":"a.json"`: "attributes", `"activity_properties":"a.json"`: "activities", `"lists":{}`: "lists", `"segments":{}`: "segments",
			`"topics":{}`: "topics", `"images":[]`: "assets", `"templates":{}`: "templates", `"workflows":{}`: "workflows",
		} {
			needed := "api." + scope + ".manage"
			all := []string{"api.attributes.manage", "api.activities.manage", "api.lists.manage", "api.segments.manage", "api.topics.manage", "api.assets.manage", "api.templates.manage", "api.workflows.manage"}
			without := slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == needed })
			body := `{"manifest":{` + section + `},"files":{"a.json":"{}"}}`
			if a := send(p.Token(t, p.BaseURL, without...), "", body); a.Status != http.StatusForbidden || !strings.Contains(a.Body, needed) {
				t.Errorf("%s without %s: %d %s", section, needed, a.Status, a.Body)
			}
			if a := send(p.Token(t, p.BaseURL, needed), "", body); a.Status != http.StatusOK {
				t.Errorf("%s with %s: %d %s", section, needed, a.Status, a.Body)
			}
		}
		if a := send(p.Test.APIKey, "?dry_run=false&prune=true", `{"manifest":{"lists":{}}}`); a.Status != http.StatusForbidden || !strings.Contains(a.Body, "test_environment_forbidden") {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		for query, body := range map[string]string{
			"?prune=perhaps": `{"manifest":{}}`, "?dry=false": `{"manifest":{}}`, "": `{"manifest":{},"file":{}}`, "?dry_run=true": `[]`, "?prune=false": `{"manifest":{"lists":{}},"files":{"../a":""}}`,
		} {
			if a := send(p.Live.APIKey, query, body); a.Status != http.StatusUnprocessableEntity {
				t.Errorf("%s %s: %d %s", query, body, a.Status, a.Body)
			}
		}
	})
}

// TestArchivesThatAreRefused checks that dangerous archives are refused with the name of the file.
func TestArchivesThatAreRefused(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		pack := func(names ...string) string {
			var b bytes.Buffer
			z := zip.NewWriter(&b)
			for _, name := range names {
				f, err := z.CreateHeader(&zip.FileHeader{Name: name})
				if err != nil {
					t.Fatal(err)
				}
				f.Write([]byte("{}")) //nolint:errcheck // in memory
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
		for name, body := range map[string]string{
			"../mailhelm.json": pack("../mailhelm.json"), "/etc/passwd": pack("mailhelm.json", "/etc/passwd"), "A.hbs": pack("mailhelm.json", "a.hbs", "A.hbs"),
			"twice": pack("mailhelm.json", "a.hbs", "a.hbs"), "zip archive": "no archive", "mailhelm.json": pack("a.hbs"),
		} {
			a := p.Send(t, product.Request{
				Method: http.MethodPost, URL: p.BaseURL + "/v1/import", Bearer: p.Live.APIKey, Body: body, Header: map[string]string{"Content-Type": "application/zip"},
			})
			if a.Status != http.StatusUnprocessableEntity || !strings.Contains(a.Body, name) {
				t.Errorf("%s: %d %s", name, a.Status, a.Body)
			}
		}
	})
}

// TestImportWithARepository checks that definitions of an organization that has connected a repository are
// planned, and not changed.
func TestImportWithARepository(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		connected := core.Org{ID: core.NewID(), Name: "Connected", Slug: "connected", Tier: "team", RetentionDays: 90, GitConnected: true}
		secret := access.MintAPIKey(core.Live)
		stored := access.APIKey{
			ID: core.NewID(), OrgID: connected.ID, Name: "Connected", Environment: core.Live, Prefix: secret.Prefix, SecretHash: secret.Hash, Scopes: core.AllScopes(), CreatedAt: p.Clock.Now(),
		}
		if err := errors.Join(p.DB.Orgs().InsertOrg(t.Context(), connected), p.DB.Keys().InsertAPIKey(t.Context(), stored)); err != nil {
			t.Fatal(err)
		}
		key := secret.Secret
		if i := importJSON(t, p, key, "", document()); !i.Plan.Applicable || i.Plan.Totals[plan.Create] == 0 {
			t.Errorf("%+v", faults(i))
		}
		before := export(t, p, key, "").Body
		a := p.Send(t, product.Request{Method: http.MethodPost, URL: p.BaseURL + "/v1/import?dry_run=false", Bearer: key, Body: `{"manifest":{"lists":{"a":{}}}}`})
		if a.Status != http.StatusConflict || !strings.Contains(a.Body, "repository") || export(t, p, key, "").Body != before {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
}
