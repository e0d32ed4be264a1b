package rest_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/rest/docs/reference/examples"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

// nameRun lets the examples name the newest run of a workflow of the demo, and its contact. It
// records an activity, which the workflow names: without one, answers have a warning.
func (d *documentedCalls) nameRun(t *testing.T) {
	t.Helper()
	d.do(t, "POST", "/v1/activities", `[{"name":"purchase","email":"`+d.Contact+`"}]`).want(202)
	run := d.first(t, "/v1/workflows/welcome/runs?limit=1")
	d.ids[examples.RunID], _ = run["id"].(string)
	d.ids[examples.ContactID], _ = run["contact_id"].(string)
	d.addArchived(t)
}

// addArchived stores an archived workflow with the key retired, which can neither be changed nor
// activated. It is older than the workflows of the demo.
func (d *documentedCalls) addArchived(t *testing.T) {
	t.Helper()
	store, at := workflowstore.New(d.DB.DB), d.Clock.Now().AddDate(-1, 0, 0)
	w := workflows.Workflow{ID: core.NewID(), Key: "retired", Name: "Retired", Status: workflows.Archived, DraftVersion: 1, Origin: workflows.Managed, CreatedAt: at, UpdatedAt: at}
	if err := store.Insert(t.Context(), d.OrgID, w); err != nil {
		t.Fatal(err)
	}
	if err := store.SaveVersion(t.Context(), d.OrgID, w.ID, workflows.Version{Number: 1, Source: "workflow", ContentHash: workflows.HashOf("workflow"), CreatedAt: at}); err != nil {
		t.Fatal(err)
	}
}
