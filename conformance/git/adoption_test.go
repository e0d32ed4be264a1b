package git

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/workflows"
)

// flow is the source of the workflow that an agent adds.
const flow = "workflow \"Trial\" v1 {\n  enter on segment \"adults\"\n  wait 1 day\n}\n"

var (
	adults = definitions.Ref{Kind: definitions.KindSegment, Key: "adults"}
	trial  = definitions.Ref{Kind: definitions.KindWorkflow, Key: "trial"}
)

// adopt adopts a definition as soon as no sync runs.
func (j *journey) adopt(ref definitions.Ref) {
	j.Helper()
	product.Await(j, patience, func() error { return j.p.Repository.Settings.Adopt(j.Context(), j.org.OrgID, ref) })
}

// adopted adopts a segment and a workflow, changes both in the repository, and checks that they stay as they
// are until one is returned, and the repository drops the other and defines it anew.
func (j *journey) adopted() {
	j.Helper()
	j.adopt(adults)
	j.adopt(trial)
	if got := j.get("/v1/segments/adults"); got["origin"] != "managed" || got["status"] != "active" {
		j.Errorf("adopted: %v", got)
	}
	j.savedDirectly()
	text := strings.Replace(j.repo.Git("show", "HEAD:mail/mailhelm.json"), `"segments": {`, `"segments": {
    "elders": {"path": "audience/elders.predicate"},`, 1)
	j.repo.Commit(map[string]string{
		"mail/mailhelm.json": text, "mail/audience/adults.predicate": "attr.age >= 19\n", "mail/workflows/trial.flow": "broken",
		"mail/audience/elders.predicate": "in segment \"adults\" and attr.age >= 70\n",
	})
	j.sync()
	warned := slices.DeleteFunc(slices.Clone(j.last.Diagnostics), func(d definitions.Diagnostic) bool { return d.Code != bundles.Adopted })
	if len(j.faults()) != 0 || len(warned) != 2 || warned[0].Path != archive.ManifestPath || warned[0].Line != lineOf(text, `"adults"`) || warned[1].Line != lineOf(text, `"trial"`) {
		j.Errorf("diagnostics %+v of\n%s", j.last.Diagnostics, text)
	}
	if got := j.get("/v1/segments/elders"); got["origin"] != "git" || got["status"] != "active" {
		j.Errorf("a segment that tests an adopted one: %v", got)
	}
	j.defined(adults, core.ManagedOrigin, "attr.age \\u003e= 18")
	j.defined(trial, core.ManagedOrigin, "wait 2 days")
	if err := j.p.Repository.Settings.Return(j.Context(), j.org.OrgID, adults); err != nil {
		j.Error(err)
	}
	j.defined(adults, core.GitOrigin, "attr.age \\u003e= 19")
	j.droppedAdopted(text)
}

// savedDirectly lets an agent change the adopted workflow, which needs no proposal.
func (j *journey) savedDirectly() {
	j.Helper()
	source, err := json.Marshal(strings.Replace(flow, "1 day", "2 days", 1))
	if err != nil {
		j.Fatal(err)
	}
	saved := j.call("workflows_author", fmt.Sprintf(`{"key": "trial", "source": %s, "base_content_hash": %q}`, source, workflows.HashOf(flow)))
	if saved["status"] != "saved" || saved["workflow_id"] == nil || saved["pull_request_branch"] != nil {
		j.Errorf("saved %v", saved)
	}
	if all, err := j.p.Repository.Settings.Store.Proposals(j.Context(), j.org.OrgID, 10); err != nil || len(all) != 2 {
		j.Errorf("%v, %d proposals, want those from before", err, len(all))
	}
}

// droppedAdopted drops the adopted workflow from the repository, which keeps it in the organization, and
// defines another with its key, which takes its place.
func (j *journey) droppedAdopted(text string) {
	j.Helper()
	j.repo.Commit(map[string]string{"mail/mailhelm.json": strings.Replace(text, `"trial": {"path": "workflows/trial.flow"}`, "", 1), "mail/workflows/trial.flow": ""})
	j.sync()
	j.defined(trial, core.ManagedOrigin, "wait 2 days")
	if all, err := j.p.Repository.Settings.Adoptions.Adopted(j.Context(), j.org.OrgID); err != nil || len(all) != 0 {
		j.Errorf("%v, %v is adopted, and the repository does not name it", err, all)
	}
	j.repo.Commit(map[string]string{"mail/mailhelm.json": text, "mail/workflows/trial.flow": strings.Replace(flow, "1 day", "3 days", 1)})
	j.sync()
	j.defined(trial, core.GitOrigin, "wait 3 days")
}

// defined waits until a definition is edited at a place and has a part in its source.
func (j *journey) defined(ref definitions.Ref, origin core.Origin, part string) {
	j.Helper()
	product.Await(j, patience, func() error {
		held := bundles.NewHeld()
		if err := j.p.DB.Bundles().AddDefinitions(j.Context(), j.org.OrgID, ref.Kind, held); err != nil {
			return err
		}
		items := held.Set.Items(ref.Kind)
		at := slices.IndexFunc(items, func(i definitions.Item) bool { return i.Ref == ref })
		if at < 0 || held.FromGit[ref] != (origin == core.GitOrigin) || !strings.Contains(items[at].Content, part) {
			return fmt.Errorf("%v: %+v, want %q from %s", ref, items, part, origin)
		}
		return nil
	})
}

// lineOf returns the line of a text that has a part.
func lineOf(text, part string) int {
	before, _, _ := strings.Cut(text, part)
	return strings.Count(before, "\n") + 1
}
