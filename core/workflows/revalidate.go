package workflows

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// RevalidateEvery is the interval at which workflows are checked again.
const RevalidateEvery = time.Minute

// RevalidateArgs has the arguments of the job that checks workflows again.
type RevalidateArgs struct {
	// OrgID is the organization whose workflows are checked; empty means all organizations.
	OrgID string `json:"org_id,omitempty"`
}

// Kind returns the name of the job.
func (RevalidateArgs) Kind() string { return "workflows_revalidate" }

// RevalidateWorker returns the job that checks whether the names in the current versions of
// workflows still exist.
func (e *Editor) RevalidateWorker() jobs.Worker[RevalidateArgs] {
	return jobs.Worker[RevalidateArgs]{Every: RevalidateEvery, Work: func(ctx context.Context, args RevalidateArgs) error {
		return jobs.ForEachOrg(ctx, args.OrgID, e.Orgs, "check of workflows", e.Revalidate)
	}}
}

// Revalidate checks the current version of each live workflow. A workflow with a fault becomes
// invalid: no contact enters, and no run moves. An invalid workflow without faults gets the
// status that it had before.
func (e *Editor) Revalidate(ctx context.Context, orgID string) error {
	live, err := e.Timers.AllLive(ctx, orgID)
	if err != nil || len(live) == 0 {
		return err
	}
	schema, err := e.Schemas.WorkflowSchema(ctx, orgID)
	if err != nil {
		return err
	}
	for _, w := range live {
		current, err := e.Store.Version(ctx, orgID, w.ID, w.CurrentVersion)
		if err != nil {
			return err
		}
		review := reviewOf(current.Source, schema)
		if _, changes := judge(w, review); !changes {
			continue
		}
		if err := e.judgeAgain(ctx, orgID, w.ID); err != nil && !core.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// judgeAgain stores the status of a workflow by its current version, with names and sources as
// they are now.
func (e *Editor) judgeAgain(ctx context.Context, orgID, id string) error {
	repaired := false
	err := e.Transactor.InTx(ctx, func(ctx context.Context) error {
		w, err := e.Store.Workflow(ctx, orgID, id)
		if err != nil || w.CurrentVersion == 0 || w.Status == Archived {
			return err
		}
		current, err := e.Store.Version(ctx, orgID, w.ID, w.CurrentVersion)
		if err != nil {
			return err
		}
		review, err := e.Review(ctx, orgID, current.Source)
		if err != nil {
			return err
		}
		judged, changes := judge(w, review)
		if !changes {
			return nil
		}
		judged.UpdatedAt = e.Clock()
		repaired = judged.Status == Active
		e.Log.InfoContext(ctx, "the status of a workflow changed after a check", "org_id", orgID, "workflow_id", w.ID, "status", judged.Status)
		return e.Store.Update(ctx, orgID, judged)
	})
	if err == nil && repaired {
		e.wake()
	}
	return err
}

// judge returns the workflow after a review of its current version, and whether it changes.
func judge(w Workflow, r Review) (judged Workflow, changes bool) {
	switch {
	case r.HasFaults():
		reason := r.Diagnostics[0].text()
		if w.Status == Invalid && w.InvalidReason == reason {
			return w, false
		}
		if w.Status != Invalid {
			w.StatusBefore = w.Status
		}
		w.Status, w.InvalidReason = Invalid, reason
		return w, true
	case w.Status == Invalid:
		w.Status, w.StatusBefore, w.InvalidReason = w.StatusBefore, "", ""
		changes = true
	}
	// A segment that replaced an archived one has its key and another id.
	if trigger := TriggerOf(r.Checked.Tree().Settings.Trigger, r.Schema.Segments); trigger != w.Trigger {
		w.Trigger, changes = trigger, true
	}
	return w, changes
}
