package simulation

import (
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
)

// Action says what a step of a dry run did.
type Action string

// The actions. Their names are part of the API.
const (
	WouldSend     Action = "would-send"
	Waited        Action = "waited"
	MatchedBranch Action = "matched-branch"
	Exited        Action = "exited"
	WouldSet      Action = "would-set"
	WouldAdd      Action = "would-add"
	WouldSkip     Action = "would-skip"
	EnteredArm    Action = "entered-arm"
	HeldOut       Action = "held-out"
)

// Step is something that a workflow would do with a contact.
type Step struct {
	// NodePath and NodeType are those of the step of the workflow.
	NodePath, NodeType string
	Action             Action
	// Detail says it in words. "" if there is nothing to add.
	Detail string
}

// MaxDryRun is the greatest number of steps of a dry run. The detail of the last step says if the
// run would have gone on.
const MaxDryRun = 500

// DryRun returns what the workflow would do with a contact that enters it at the time now,
// whether or not its trigger has happened. It lets time pass through all waits. As long as the
// dry run lasts, no data of the contact changes, except by the steps of the workflow: a wait for
// a condition times out unless the condition holds or becomes true by time.
func DryRun(plan *engine.Plan, subject predicate.Subject, contactID, workflowID string, now time.Time) []Step {
	j := newJourney(plan, subject, engine.Facts{WorkflowID: workflowID, ContactID: contactID})
	j.at(now)
	j.events = j.subject.Events // nothing happens after now
	j.enter()
	n := &narrator{plan: plan, waits: map[string]time.Time{}}
	for len(n.steps) <= MaxDryRun {
		j.advance(n.tell)
		at, goes := j.wakes()
		if !goes {
			break
		}
		n.delay(j.state, j.facts.Now, at)
		j.at(at)
	}
	if len(n.steps) > MaxDryRun {
		n.steps = n.steps[:MaxDryRun]
		last := &n.steps[MaxDryRun-1]
		last.Detail = joined(last.Detail, fmt.Sprintf("the dry run ends here, after %d steps", MaxDryRun))
	}
	return n.steps
}
