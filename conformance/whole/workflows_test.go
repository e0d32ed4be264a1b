package whole

import (
	"fmt"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

var (
	workflowID = kind{"workflow id", func(t *testing.T, w world, n int) string {
		return w.workflow(t, w.p.Other.OrgID, fmt.Sprintf("foreign-by-id-%03d", n)).ID
	}, func(int) string { return core.NewID() }}
	workflowKey = kind{"workflow key", func(t *testing.T, w world, n int) string {
		return w.workflow(t, w.p.Other.OrgID, fmt.Sprintf("foreign-%03d", n)).Key
	}, func(n int) string { return fmt.Sprintf("absent-workflow-%03d", n) }}
	runID = kind{"run id", func(t *testing.T, w world, n int) string {
		of := w.workflow(t, w.p.Other.OrgID, fmt.Sprintf("foreign-of-run-%03d", n))
		run := workflows.Run{
			ID: core.NewID(), WorkflowID: of.ID, Version: 1, ContactID: w.foreignContact(t, n)["id"].(string), State: engine.Begin(w.p.Clock.Now()),
			Cause: workflows.SegmentEntered, SourceKey: "good-customers", StartedAt: w.p.Clock.Now(),
		}
		_, err := workflowstore.NewEntryStore(w.p.DB.DB).Enroll(t.Context(), w.p.Other.OrgID, of.ID, []workflows.Run{run}, false)
		w.must(t, err)
		return run.ID
	}, func(int) string { return core.NewID() }}
	// workflowOnSegment is a source that names a segment.
	workflowOnSegment = predicateOf("workflow", workflowFormat, func(t *testing.T, w world, name string) {
		w.segment(t, w.p.Other.OrgID, name)
	})
)

// workflowFormat is a workflow that contacts enter who come into a segment.
const workflowFormat = `workflow "Any" v1 { enter on segment %q wait 1 day }`

// ownWorkflow is a workflow of the caller's organization.
var ownWorkflow = fmt.Sprintf(workflowFormat, "good-customers")

// workflow stores a draft with the key.
func (w world) workflow(t *testing.T, orgID, key string) workflows.Workflow {
	t.Helper()
	now := w.p.Clock.Now()
	made := workflows.Workflow{ID: core.NewID(), Key: key, Name: key, Status: workflows.Draft, DraftVersion: 1, Origin: workflows.Managed, CreatedAt: now, UpdatedAt: now}
	store := workflowstore.New(w.p.DB.DB)
	w.must(t, store.Insert(t.Context(), orgID, made))
	w.must(t, store.SaveVersion(t.Context(), orgID, made.ID, workflows.Version{
		Number: 1, Source: ownWorkflow, ContentHash: workflows.HashOf(ownWorkflow), CreatedAt: now, CreatedBy: workflows.Author{Kind: "user", ID: "test"},
	}))
	return made
}
