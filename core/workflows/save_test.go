package workflows_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workflows"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

func TestSave(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		first := w.save(t, "", trial)
		if first.Workflow.Key != "trial" || first.Workflow.Name != "Trial" || first.Workflow.Status != workflows.Draft || !first.Created || !first.Changed || first.Version.Number != 1 {
			t.Errorf("first save: %+v", first)
		}
		if first.Review.HasFaults() || len(first.Review.Diagnostics) != 0 {
			t.Errorf("diagnostics of a valid source: %v", first.Review.Diagnostics)
		}
		if other := w.save(t, "", trial); other.Workflow.Key != "trial-2" {
			t.Errorf("a second workflow with the name has the key %s", other.Workflow.Key)
		}
		if again := w.save(t, "trial", trial); again.Changed || again.Created || again.Workflow.ID != first.Workflow.ID {
			t.Errorf("the same source again: %+v", again)
		}
		faulty := w.save(t, "trial", source("Renamed", `enter on segment "trails"`, `send "welcome"`))
		want := []workflows.Diagnostic{{Severity: workflows.Fault, Line: 2, Column: 18, Message: `there is no segment "trails"`, Suggestion: "trials"}}
		if diff := cmp.Diff(want, faulty.Review.Diagnostics); diff != "" || faulty.Version.Number != 1 || faulty.Workflow.Name != "Renamed" {
			t.Errorf("a source with a fault is version %d of %s (-want +got):\n%s", faulty.Version.Number, faulty.Workflow.Name, diff)
		}
		if broken := w.save(t, "trial", `workflow "Third" v1 {`); broken.Workflow.Name != "Renamed" || !broken.Review.HasFaults() {
			t.Errorf("a source that does not parse: %+v", broken.Workflow)
		}
		if broken := w.save(t, "", `workflow "Bröken" v1 {`); broken.Workflow.Name != "Bröken" || broken.Workflow.Key != "br-ken" {
			t.Errorf("a new source that does not parse: %+v", broken.Workflow)
		}
		stored := w.stored(t, "trial")
		version, err := workflowstore.New(w.db.DB).Version(t.Context(), w.org, stored.ID, 1)
		must(t, err)
		if version.Source != `workflow "Third" v1 {` || version.ContentHash != workflows.HashOf(version.Source) || version.CreatedBy.ID != "ann" || stored.DraftVersion != 1 {
			t.Errorf("stored: %+v, %+v", stored, version)
		}
	})
}

func TestSaveRefusals(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		saved := w.save(t, "trial", trial)
		archived := w.save(t, "old", trial)
		_, err := w.Archive(t.Context(), w.org, archived.Workflow.ID)
		must(t, err)
		_, err = w.Save(t.Context(), w.org, workflows.Definition{Key: "cloned", Source: trial, Origin: workflows.FromGit, SourcePath: "workflows/cloned.workflow"})
		must(t, err)
		stale, hash := "abc", saved.Version.ContentHash
		for name, test := range map[string]struct {
			in   workflows.Definition
			code core.Code
		}{
			"key":             {workflows.Definition{Key: "No Key", Source: trial}, core.CodeValidationFailed},
			"unknown id":      {workflows.Definition{WorkflowID: core.NewID(), Source: trial}, core.CodeNotFound},
			"stale hash":      {workflows.Definition{Key: "trial", Source: "x", BaseHash: &stale}, core.CodeConflict},
			"no hash":         {workflows.Definition{Key: "trial", Source: "x", BaseHash: new(string)}, core.CodeConflict},
			"hash of nothing": {workflows.Definition{Key: "new", Source: "x", BaseHash: &stale}, core.CodeConflict},
			"archived":        {workflows.Definition{Key: "old", Source: "x"}, core.CodeConflict},
			"of a repository": {workflows.Definition{Key: "cloned", Source: "x"}, core.CodeConflict},
		} {
			_, err := w.Save(t.Context(), w.org, test.in)
			wantCode(t, name, err, test.code)
			if name == "stale hash" {
				if got := core.AsError(err).Extra; got["base_content_hash"] != stale || got["content_hash"] == nil {
					t.Errorf("a stale hash is refused with %v", got)
				}
			}
		}
		_, err = w.Save(t.Context(), w.org, workflows.Definition{Key: "trial", Source: "x", BaseHash: &hash})
		must(t, err)
	})
}
