package git

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/git"
	"github.com/mailhelm/mailhelm/core/git/github/githubtest"
	"github.com/mailhelm/mailhelm/core/git/gittest"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// patience is how long the tests wait for a sync on a busy machine.
const patience = time.Minute

// first are the files of the first commit, below the folder mail.
var first = map[string]string{
	"mail/mailhelm.json": `{
  "attributes": "audience/attributes.json",
  "segments": {
    "adults": {"path": "audience/adults.predicate", "name": "Adults"},
    "seniors": {"path": "audience/seniors.predicate", "name": "Seniors"}
  },
  "templates": {
    "welcome": {"path": "templates/hello.hbs", "subject": "Hello {{first_name}}", "text": "templates/hello.txt", "testdata": "fixtures/welcome/"}
  },
  "lists": {"newsletter": {"name": "Newsletter"}}
}
`,
	"mail/audience/attributes.json": `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "properties": {"age": {"type": "number"}}
}
`,
	"mail/audience/adults.predicate": "attr.age >= 18\n", "mail/audience/seniors.predicate": "attr.age >= 65\n",
	"mail/templates/hello.hbs": "<p>Hello {{first_name}}</p>\n", "mail/templates/hello.txt": "Hello {{first_name}}\n",
	"mail/fixtures/welcome/ada.json": "{\n  \"first_name\": \"Ada\"\n}\n", "mail/fixtures/welcome/old.json": "{\"first_name\": \"Old\"}",
}

// journey is a repository and the organization that connects it.
type journey struct {
	*testing.T
	p    *product.Product
	org  product.Org
	repo *gittest.Repository
	last git.Connection
	// remote is a stand-in of GitHub.
	remote *githubtest.Server
	// commit is the first commit.
	commit string
}

// TestJourney connects a repository in a folder (SQLite) or on a server (PostgreSQL), breaks, removes and
// proposes definitions, merges with git, adopts and returns definitions, disconnects, and connects a
// repository on GitHub.
func TestJourney(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		folder := t.TempDir()
		repo := gittest.New(t, folder)
		s := repo.Serve(nil)
		var p *product.Product
		remote := githubtest.New(t, func() time.Time { return p.Clock.Now() })
		p = product.Start(t, product.Options{Postgres: postgres, GitFolder: folder, GitCAs: s.Roots, GitHub: appOn(remote)})
		j := &journey{T: t, p: p, org: p.Other, repo: repo, remote: remote}
		c := git.Connection{OrgID: j.org.OrgID, Kind: git.Local, Location: repo.Bare, PathPrefix: "mail"}
		if postgres {
			c.Kind, c.Location = git.Remote, s.URL
		}
		repo.Commit(first)
		j.commit = repo.InBare("rev-parse", "HEAD")
		if _, err := p.Repository.Settings.Connect(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		j.synced()
		j.connected()
		j.broken()
		j.brokenTemplates()
		j.removed()
		j.proposed()
		j.adopted()
		j.disconnected()
		j.onGitHub()
	})
}

// synced waits until the newest commit is applied.
func (j *journey) synced() {
	j.Helper()
	j.syncedAt(j.repo.InBare("rev-parse", "HEAD"))
}

// syncedAt waits until a commit is applied.
func (j *journey) syncedAt(want string) {
	j.Helper()
	product.Await(j, patience, func() error {
		c, _, err := j.p.Repository.Settings.Of(j.Context(), j.org.OrgID)
		j.last = c
		if err == nil && (c.State != git.Synced || c.Revision.Commit != want) {
			err = fmt.Errorf("%s at %s, want %s: %s", c.State, c.Revision.Commit, want, c.Failure)
		}
		return err
	})
}

// faults returns the diagnostics of the last sync that are errors.
func (j *journey) faults() []definitions.Diagnostic {
	return slices.DeleteFunc(slices.Clone(j.last.Diagnostics), func(d definitions.Diagnostic) bool { return d.Severity != definitions.Error })
}

// sync requests a sync and waits for it.
func (j *journey) sync() {
	j.Helper()
	if err := j.p.Repository.Settings.RequestSync(j.Context(), j.org.OrgID); err != nil {
		j.Fatal(err)
	}
	j.synced()
}

// get returns a resource of the API.
func (j *journey) get(path string) map[string]any {
	j.Helper()
	a := j.p.Send(j, product.Request{URL: j.p.BaseURL + path, Bearer: j.org.Live.APIKey})
	var got map[string]any
	if err := json.Unmarshal([]byte(a.Body), &got); err != nil || a.Status != http.StatusOK {
		j.Fatalf("%s: %d %s", path, a.Status, a.Body)
	}
	return got
}

// connected checks that definitions are there and read-only.
func (j *journey) connected() {
	j.Helper()
	if found := j.faults(); len(found) != 0 {
		j.Errorf("diagnostics %+v", found)
	}
	for path, want := range map[string]string{"/v1/segments/adults": "active", "/v1/segments/seniors": "active", "/v1/lists/newsletter": "active"} {
		if got := j.get(path); got["origin"] != "git" || got["status"] != want {
			j.Errorf("%s: %v", path, got)
		}
	}
	j.wantTemplate("welcome", template{source: "git", version: j.commit[:7], status: "valid", number: 1})
	product.Await(j, patience, func() error {
		a := j.p.Send(j, product.Request{Method: http.MethodPost, URL: j.p.BaseURL + "/v1/lists", Bearer: j.org.Live.APIKey, Body: `{"name": "More"}`})
		if a.Status != http.StatusConflict || !strings.Contains(a.Body, "repository") {
			return fmt.Errorf("a list is created: %d %s", a.Status, a.Body)
		}
		return nil
	})
}

// broken checks that an invalid file is kept as invalid, with its line, and that others are applied.
func (j *journey) broken() {
	j.Helper()
	j.repo.Commit(map[string]string{"mail/audience/adults.predicate": "attr.age >= 18\nand attr.nothing = 1\n"})
	j.sync()
	j.repo.Commit(map[string]string{"mail/audience/seniors.predicate": "attr.age >= 66\n"})
	j.sync() // the error of the other file is there still
	if found := j.faults(); len(found) != 1 || found[0].Path != "audience/adults.predicate" || found[0].Line != 2 {
		j.Errorf("diagnostics %+v", j.last.Diagnostics)
	}
	if got := j.get("/v1/segments/adults"); got["status"] != "invalid" || got["origin"] != "git" {
		j.Errorf("the broken segment: %v", got)
	}
	if got := j.get("/v1/segments/seniors"); got["status"] != "active" {
		j.Errorf("the other segment: %v", got)
	}
	j.repo.Commit(map[string]string{"mail/audience/adults.predicate": first["mail/audience/adults.predicate"]})
	j.sync()
	if got := j.get("/v1/segments/adults"); got["status"] != "active" || len(j.faults()) != 0 {
		j.Errorf("corrected: %v, %+v", got, j.last.Diagnostics)
	}
}

// template is what the record of a template says about its origin. diagnostic is a part of the only
// diagnostic, "" for none.
type template struct {
	source, version, status string
	number                  int
	diagnostic              string
}

// wantTemplate checks the record of a template at the API, and among those that an agent lists.
func (j *journey) wantTemplate(slug string, want template) {
	j.Helper()
	got := j.get("/v1/templates/" + slug)
	diagnostics := fmt.Sprint(got["diagnostics"])
	if got["version_number"] != float64(want.number) || (diagnostics == "[]") != (want.diagnostic == "") || !strings.Contains(diagnostics, want.diagnostic) {
		j.Errorf("%s: %v", slug, got)
	}
	items, _ := j.call("templates_list", `{}`)["items"].([]any)
	at := slices.IndexFunc(items, func(item any) bool { return item.(map[string]any)["slug"] == slug })
	if at < 0 {
		j.Fatalf("%s is not listed: %v", slug, items)
	}
	for where, r := range map[string]map[string]any{"read": got, "listed": items[at].(map[string]any)} {
		if r["source"] != want.source || r["version"] != want.version || r["validation_status"] != want.status {
			j.Errorf("%s as %s: %v", slug, where, r)
		}
	}
}

// brokenTemplates breaks a template and adds two with errors, and corrects them. The broken one is sent
// with its last valid content, and those that were never valid are refused.
func (j *journey) brokenTemplates() {
	j.Helper()
	added := strings.Replace(first["mail/mailhelm.json"], `"templates": {`, `"templates": {
    "missing": {"path": "templates/missing.hbs"},
    "trial": {"path": "templates/trial.hbs"}, "No Slug": {"path": "templates/none.hbs"}, "taken": {"path": "templates/none.hbs"},`, 1)
	// A sync with the account may run at any time, so both have the template.
	taken := sending.Template{Name: "taken", Subject: "Of the account", HTML: "<p>"}
	stored := j.p.DB.Templates().SaveTemplate(j.Context(), j.org.OrgID, taken, j.p.Clock.Now(), j.p.Clock.Now())
	if err := errors.Join(stored, j.p.Simulator.PutTemplate(j.Context(), j.org.OrgID, taken)); err != nil {
		j.Fatal(err)
	}
	j.repo.Commit(map[string]string{"mail/mailhelm.json": added, "mail/templates/hello.hbs": "<p>Hello</p>\n<p>{{#if}}</p>\n", "mail/templates/trial.hbs": "<p>{{first_name</p>\n"})
	j.sync()
	j.wantTemplate("welcome", template{source: "git", version: j.commit[:7], status: "invalid", number: 1, diagnostic: `"templates/hello.hbs" line 2, column 4: `})
	j.wantTemplate("missing", template{source: "git", status: "invalid", diagnostic: `"mailhelm.json" line 8, column 25: There is no file "templates/missing.hbs".`})
	j.wantTemplate("trial", template{source: "git", status: "invalid", diagnostic: `"templates/trial.hbs" line 1, column 16: `})
	if got := j.call("templates_render", `{"slug":"welcome","data":{"first_name":"Ada"}}`); got["validation_status"] != "invalid" || !strings.Contains(fmt.Sprint(got["html"]), "Hello Ada") {
		j.Errorf("rendered %v", got)
	}
	var ofKeys []string
	for _, d := range j.faults() {
		if d.Path == "mailhelm.json" && d.Line == 0 {
			ofKeys = append(ofKeys, d.Message)
		}
	}
	if len(ofKeys) != 2 || !strings.HasPrefix(ofKeys[0], "`slug` ") || !strings.Contains(ofKeys[1], `a template of its own with the slug "taken"`) {
		j.Errorf("templates that cannot be stored: %q", ofKeys)
	}
	list := j.get("/v1/lists/newsletter")["id"]
	for slug, want := range map[string]int{"welcome": http.StatusCreated, "missing": http.StatusUnprocessableEntity} {
		body := fmt.Sprintf(`{"name":"News","audience_kind":"list","audience_id":%q,"template_id":%q}`, list, slug)
		a := j.p.Send(j, product.Request{Method: http.MethodPost, URL: j.p.BaseURL + "/v1/broadcasts", Bearer: j.org.Live.APIKey, Body: body})
		if a.Status != want || want != http.StatusCreated && !strings.Contains(a.Body, "never been valid") {
			j.Errorf("a broadcast with %s: %d %s", slug, a.Status, a.Body)
		}
	}
	j.sync() // finds the same errors and changes nothing
	added = strings.Replace(added, "templates/missing.hbs", "templates/trial.hbs", 1)
	j.repo.Commit(map[string]string{"mail/mailhelm.json": added, "mail/templates/hello.hbs": first["mail/templates/hello.hbs"], "mail/templates/trial.hbs": "<p>{{first_name}}</p>\n"})
	j.sync()
	commit := j.repo.InBare("rev-parse", "HEAD")[:7]
	j.wantTemplate("welcome", template{source: "git", version: commit, status: "valid", number: 1})
	j.wantTemplate("missing", template{source: "git", version: commit, status: "valid", number: 1})
	j.wantTemplate("trial", template{source: "git", version: commit, status: "valid", number: 1})
}

// removed checks that a definition that the repository drops is archived, or becomes a managed one if it
// is a template.
func (j *journey) removed() {
	j.Helper()
	text := strings.Replace(first["mail/mailhelm.json"], ",\n    \"seniors\": {\"path\": \"audience/seniors.predicate\", \"name\": \"Seniors\"}", "", 1)
	j.repo.Commit(map[string]string{"mail/mailhelm.json": text, "mail/audience/seniors.predicate": ""})
	j.sync()
	if got := j.get("/v1/segments/seniors"); got["status"] != "archived" {
		j.Errorf("the dropped segment: %v", got)
	}
	hash, _ := j.get("/v1/templates/trial")["content_hash"].(string)
	j.wantTemplate("trial", template{source: "managed", version: hash[:7], status: "valid", number: 1})
}

// call calls a tool as an agent and returns its result.
func (j *journey) call(tool, arguments string) map[string]any {
	j.Helper()
	token := j.p.TokenWith(j, j.org.Live, j.p.MCPURL, product.ToolScopes().Strings()...)
	a := j.p.Send(j, j.p.ToAgent(token, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`}}`))
	var got struct {
		Result struct {
			IsError           bool           `json:"isError"`
			StructuredContent map[string]any `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(a.Body), &got); err != nil || got.Result.IsError {
		j.Fatalf("%s: %d %s", tool, a.Status, a.Body)
	}
	return got.Result.StructuredContent
}

// proposed lets an agent change a template, which loses its text and a set of test data, and add a
// workflow, merges both branches, and checks what a sync makes of them.
func (j *journey) proposed() {
	j.Helper()
	stored, err := j.p.DB.ManagedTemplates().ManagedBySlug(j.Context(), j.org.OrgID, "welcome")
	if err != nil {
		j.Fatal(err)
	}
	template := `{"slug":"welcome","html":"<p>Dear {{first_name}}</p>\n","text":"","testdata":{"ada":{"first_name":"Ada"}},"base_content_hash":"` + stored.Newest.Hash + `","message":"More polite."}`
	changed := j.call("templates_author", template)
	branch, _ := changed["pull_request_branch"].(string)
	if changed["status"] != "pull_request_open" || changed["pull_request_url"] != nil || branch == "" || !strings.Contains(fmt.Sprint(changed["summary"]), "awaits review") {
		j.Fatalf("proposed %v", changed)
	}
	if again := j.call("templates_author", template); again["pull_request_branch"] != branch {
		j.Errorf("called again: %v", again)
	}
	if got := j.repo.InBare("diff", "--name-only", "main", branch); got != "mail/fixtures/welcome/old.json\nmail/mailhelm.json\nmail/templates/hello.hbs\nmail/templates/hello.txt" {
		j.Errorf("the branch changes %s", got)
	}
	added := j.call("workflows_author", `{"key":"trial","source":"workflow \"Trial\" v1 {\n  enter on segment \"adults\"\n  wait 1 day\n}\n"}`)
	other, _ := added["pull_request_branch"].(string)
	if added["status"] != "pull_request_open" || added["workflow_id"] != nil || added["key"] != "trial" {
		j.Fatalf("proposed %v", added)
	}
	if got := j.repo.InBare("diff", "--name-only", "main", other); got != "mail/mailhelm.json\nmail/workflows/trial.flow" {
		j.Errorf("the branch changes %s", got)
	}
	if after, err := j.p.DB.ManagedTemplates().ManagedBySlug(j.Context(), j.org.OrgID, "welcome"); err != nil || after.Newest.Hash != stored.Newest.Hash {
		j.Errorf("%v, the template is saved before the merge", err)
	}
	j.repo.Git("fetch", "--quiet")
	for _, b := range []string{branch, other} {
		j.repo.Git("merge", "--quiet", "--no-ff", "--message", "Merge", "origin/"+b)
		j.repo.Git("push", "--quiet", "origin", "main")
		j.sync() // both change the manifest, so after the second, the contents of the first are not all there
	}
	after, err := j.p.DB.ManagedTemplates().ManagedBySlug(j.Context(), j.org.OrgID, "welcome")
	if err != nil || after.Newest.Hash != changed["content_hash"] || after.Newest.Text != "" || strings.Contains(after.TestData, "Old") || !strings.Contains(after.TestData, "Ada") {
		j.Errorf("%v, %v with %s, want the hash %v", err, after.Newest, after.TestData, changed["content_hash"])
	}
	workflow, err := j.p.Workflows.Store.Workflow(j.Context(), j.org.OrgID, "trial")
	if err != nil || workflow.Origin != "git" || workflow.SourcePath != "workflows/trial.flow" || workflow.SourceURL != "" {
		j.Errorf("%v, %+v", err, workflow)
	}
	proposals, err := j.p.Repository.Settings.Store.Proposals(j.Context(), j.org.OrgID, 10)
	if err != nil || len(proposals) != 2 || proposals[0].State != git.Merged || proposals[1].State != git.Merged {
		j.Errorf("%v, %+v", err, proposals)
	}
}

// disconnected checks that definitions stay as managed ones.
func (j *journey) disconnected() {
	j.Helper()
	if err := j.p.Repository.Settings.Disconnect(context.WithoutCancel(j.Context()), j.org.OrgID, j.last.ID); err != nil {
		j.Fatal(err)
	}
	if got := j.get("/v1/segments/adults"); got["origin"] != "managed" || got["status"] != "active" {
		j.Errorf("after the end: %v", got)
	}
	if got := j.get("/v1/templates/welcome"); got["source"] != "managed" || got["validation_status"] != "valid" {
		j.Errorf("after the end: %v", got)
	}
	org, err := j.p.DB.Orgs().Org(j.Context(), j.org.OrgID)
	if err != nil || org.GitConnected {
		j.Errorf("%v, connected %t", err, org.GitConnected)
	}
}
