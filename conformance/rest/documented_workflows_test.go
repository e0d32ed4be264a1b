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

// documentedWorkflows are the workflows that the examples of operations name.
var documentedWorkflows = []struct{ key, source string }{
	{"retired", `workflow "Retired" v1 { enter on segment "good-customers" wait 1 day }`},
	{"thank-good-customers", `workflow "Thank good customers" v1 {
  enter on segment "good-customers"
  exit "left" when exists(activity.account_closed)

  wait 2 days
  send "welcome" via topic "product-news"
  wait 7 days
  if attr.orders >= 20 {
    send "welcome" via topic "brewing-tips"
  }
}
`},
	{"win-back", `workflow "Win back wholesale partners" v1 {
  enter on segment "quiet-wholesale"

  send "welcome" via topic "brewing-tips"
}
`},
}

// addWorkflows stores an archived workflow, an active one, which the runner moves, and a draft.
func (d *documentedCalls) addWorkflows(t *testing.T) {
	t.Helper()
	db := d.DB
	editor := workflows.New(workflows.Config{
		Store: workflowstore.New(db.DB), Runs: workflowstore.NewRunStore(db.DB), Transactor: db, Clock: d.Clock.Now, Log: slog.New(slog.DiscardHandler),
		Schemas: outgoing.WorkflowSchemas{Segments: db.Segments(), Templates: db.Templates()},
	})
	for _, w := range documentedWorkflows {
		saved, err := editor.Save(t.Context(), d.OrgID, workflows.Definition{Key: w.key, Source: w.source, Author: workflows.Author{Kind: "user", ID: "demo"}})
		if err == nil && w.key == "thank-good-customers" {
			_, err = editor.Activate(t.Context(), d.OrgID, saved.Workflow.ID, workflows.Activation{RequireApproval: true})
		}
		if err == nil && w.key == "retired" {
			_, err = editor.Archive(t.Context(), d.OrgID, saved.Workflow.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	product.Await(t, time.Minute, func() error {
		runs := d.rows(t, "/v1/workflows/thank-good-customers/runs?limit=1")
		if len(runs) == 0 || runs[0]["node_path"] == nil {
			return errors.New("no contact has come to the first step of the workflow")
		}
		d.ids[examples.RunID], d.ids[examples.ContactID] = runs[0]["id"].(string), runs[0]["contact_id"].(string)
		return nil
	})
}
