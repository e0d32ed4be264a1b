package rest_test

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/outgoing"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/rest/docs/reference/examples"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

// documentedWorkflows are the workflows that the examples of operations name, by key.
var documentedWorkflows = map[string]string{
	"thank-good-customers": `workflow "Thank good customers" v1 {
  enter on segment "good-customers"
  exit "opted out" when not subscribed to "events"

  wait 2 days
  send "welcome" via topic "events"
  wait 7 days
  if attr.orders >= 20 {
    send "welcome" via topic "offers"
  }
}
`,
	"win-back": `workflow "Win back wholesale partners" v1 {
  enter on segment "quiet-wholesale"

  send "welcome" via topic "offers"
}
`,
}

// addWorkflows stores an active workflow, which the runner moves, and a draft.
func (d *documentedCalls) addWorkflows(t *testing.T) {
	t.Helper()
	db := d.DB
	editor := workflows.New(workflows.Config{
		Store: workflowstore.New(db.DB), Runs: workflowstore.NewRunStore(db.DB), Transactor: db, Clock: d.Clock.Now, Log: slog.New(slog.DiscardHandler),
		Schemas: outgoing.WorkflowSchemas{Segments: db.Segments(), Templates: db.Templates()},
	})
	for key, source := range documentedWorkflows {
		saved, err := editor.Save(t.Context(), d.OrgID, workflows.Definition{Key: key, Source: source, Author: workflows.Author{Kind: "user", ID: "demo"}})
		if err == nil && key == "thank-good-customers" {
			_, err = editor.Activate(t.Context(), d.OrgID, saved.Workflow.ID, workflows.Activation{RequireApproval: true})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	product.Await(t, time.Minute, func() error {
		for _, run := range d.rows(t, "/v1/workflows/thank-good-customers/runs?limit=1") {
			d.ids[examples.RunID], _ = run["id"].(string)
			d.ids[examples.ContactID], _ = run["contact_id"].(string)
			return nil
		}
		return errors.New("no contact has entered the workflow")
	})
}
