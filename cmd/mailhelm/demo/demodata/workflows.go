package demodata

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/workflows"
)

// demoWorkflow is a workflow of the demo. The ids and keys are the same in every installation,
// so that examples can name them.
type demoWorkflow struct {
	id, key string
	// activated is how many days ago it was activated, 0 for a draft.
	activated int
	// approval is true if its messages wait for a person.
	approval bool
	source   string
}

// demoWorkflows are the workflows of the demo: two that run, and a draft.
var demoWorkflows = []demoWorkflow{
	{id: "0198c7a2-5d3e-7a01-8b00-2f61c0d4b301", key: "welcome", activated: signupDays, source: welcomeSource},
	{id: "0198c7a2-5d3e-7a01-8b00-2f61c0d4b302", key: "reorder-reminder", activated: 45, approval: true, source: reminderSource},
	{id: "0198c7a2-5d3e-7a01-8b00-2f61c0d4b303", key: "win-back", source: winBackSource},
}

// signupDays is the number of past days with sign-ups, which let contacts enter the workflow
// "Welcome".
const signupDays = 60

const welcomeSource = `# Welcomes people who sign up, and leads them to their first order.
workflow "Welcome" v1 {
  enter on activity.signup
  exit "ordered" when exists(activity.purchase within 6d)

  send "welcome" transactional
  wait 3 days
  send "brewing-guide" via topic "brewing-tips"
  wait 3 days
  send "first-order" via topic "product-news"
  wait up to 1 week until exists(click within 7d)
}
`

const reminderSource = `# Writes to customers a month after their last order, and once more a week later.
workflow "Reorder reminder" v1 {
  enter on 30 days after attr.last_order_at where attr.orders >= 1
  exit "ordered" when exists(activity.purchase within 14d)

  send "harvest-news" via topic "product-news"
  wait 1 week
  if attr.spent_eur >= 100 {
    send "summer-sale" via topic "product-news"
  } else {
    exit
  }
}
`

const winBackSource = `# Writes twice to wholesale partners who stopped ordering.
workflow "Win back wholesale partners" v1 {
  enter on segment "quiet-wholesale"
  exit "ordered" when exists(activity.purchase within 30d)

  send "wholesale-reopening" via topic "product-news"
  wait up to 10 days until exists(click within 10d) {
    timeout:
      send "harvest-news" via topic "product-news"
  }
}
`

// workflows creates the workflows of the demo with their history. events are those of the
// demo's past mail, which has the messages of the workflow "Welcome".
func (p Past) workflows(ctx context.Context, orgID string, events []messages.Event) error {
	owner, err := p.DB.Users().UserByEmail(ctx, userEmail)
	if err != nil {
		return err
	}
	author := workflows.Author{Kind: string(core.Person), ID: owner.ID, UserID: owner.ID}
	outbox := newOutbox(events, p.Clock())
	for _, d := range demoWorkflows {
		w, err := p.storeWorkflow(ctx, orgID, d, author)
		if err != nil {
			return fmt.Errorf("workflow %s: %w", d.key, err)
		}
		if d.activated == 0 {
			continue
		}
		if err := p.runs(ctx, orgID, w, d, outbox); err != nil {
			return fmt.Errorf("runs of the workflow %s: %w", d.key, err)
		}
	}
	// the messages that are not in the history yet
	_, err = p.Domains.Messages.Record(ctx, orgID, outbox.added)
	return err
}

// storeWorkflow stores a workflow and, unless it is a draft, activates it on a past day. No
// existing contact enters.
func (p Past) storeWorkflow(ctx context.Context, orgID string, d demoWorkflow, author workflows.Author) (workflows.Workflow, error) {
	at := p.Clock().AddDate(0, 0, -max(d.activated, 1))
	written := at.Add(-time.Hour)
	editor := p.editor(at)
	tree, err := editor.Review(ctx, orgID, d.source)
	if err != nil || tree.HasFaults() {
		return workflows.Workflow{}, fmt.Errorf("source: %v, %w", tree.Diagnostics, err)
	}
	w := workflows.Workflow{
		ID: d.id, Key: d.key, Name: tree.Checked.Tree().Name, Status: workflows.Draft, DraftVersion: 1, Origin: workflows.Managed, RequireApproval: true,
		CreatedAt: written, UpdatedAt: written,
	}
	if err := editor.Store.Insert(ctx, orgID, w); err != nil {
		return w, err
	}
	v := workflows.Version{Number: 1, Source: d.source, ContentHash: workflows.HashOf(d.source), CreatedAt: written, CreatedBy: author}
	if err := editor.Store.SaveVersion(ctx, orgID, w.ID, v); err != nil || d.activated == 0 {
		return w, err
	}
	if w, err = editor.Activate(ctx, orgID, w.ID, workflows.Activation{RequireApproval: d.approval}); err != nil {
		return w, err
	}
	if w.Backfill = nil; w.Trigger.Kind == workflows.OnDate {
		w.SweptUntil = p.Clock()
	}
	return w, editor.Store.Update(ctx, orgID, w)
}

// editor returns the editor of workflows with the clock at a past time. It wakes no runner.
func (p Past) editor(at time.Time) *workflows.Workflows {
	config := p.Domains.Workflows.Config
	config.Clock, config.Wake = func() time.Time { return at }, nil
	return workflows.New(config)
}
