package workflows

import (
	"time"

	"github.com/mailhelm/mailhelm/core/workflows/engine"
)

// Record is a workflow as REST shows it. Its source and the hash of it are not part of it.
type Record struct {
	ID              string    `json:"id" jsonschema:"format=uuid"`
	Name            string    `json:"name" voice:"untrusted"`
	Key             string    `json:"key" voice:"untrusted"`
	Status          Status    `json:"status" jsonschema:"enum=draft,enum=active,enum=paused,enum=archived,enum=invalid"`
	InvalidReason   *string   `json:"invalid_reason" voice:"untrusted" jsonschema:"nullable" jsonschema_description:"What is wrong with the source of an invalid workflow."`
	RequireApproval bool      `json:"require_send_approval" jsonschema_description:"Whether each message waits until a person approves it."`
	CurrentVersion  int       `json:"current_version" jsonschema_description:"Version in which contacts enter; 0 before the first activation."`
	Origin          Origin    `json:"origin" jsonschema:"enum=managed,enum=git"`
	SourcePath      *string   `json:"source_path" voice:"untrusted" jsonschema:"nullable" jsonschema_description:"File in the connected repository."`
	SourceURL       *string   `json:"source_url" voice:"untrusted" jsonschema:"nullable" jsonschema_description:"Page of the file on GitHub, at a commit with this source. null: managed, or elsewhere."`
	RunCounts       RunCounts `json:"run_counts"`

	createdAt time.Time
}

// RunCounts are numbers of runs by status.
type RunCounts struct {
	Active    int `json:"active"`
	Completed int `json:"completed" jsonschema_description:"Passed the last step or a step exit."`
	Exited    int `json:"exited" jsonschema_description:"Left by a named exit, a hold-out, a cancelled message, or an archived workflow or contact."`
	Failed    int `json:"failed"`
}

func runCountsOf(counts map[engine.Status]int) RunCounts {
	return RunCounts{Active: counts[engine.Active], Completed: counts[engine.Completed], Exited: counts[engine.Exited], Failed: counts[engine.Failed]}
}

func recordOf(w Workflow, counts map[engine.Status]int) Record {
	return Record{
		ID: w.ID, Name: w.Name, Key: w.Key, Status: w.Status, InvalidReason: orNull(w.InvalidReason), RequireApproval: w.RequireApproval,
		CurrentVersion: w.CurrentVersion, Origin: w.Origin, SourcePath: orNull(w.SourcePath), SourceURL: orNull(w.SourceURL),
		RunCounts: runCountsOf(counts), createdAt: w.CreatedAt,
	}
}

// RunRecord is a run as REST shows it. It names the contact only by id.
type RunRecord struct {
	ID         string        `json:"id" jsonschema:"format=uuid"`
	WorkflowID string        `json:"workflow_id" jsonschema:"format=uuid"`
	Version    int           `json:"definition_version"`
	ContactID  string        `json:"contact_id" jsonschema:"format=uuid"`
	Status     engine.Status `json:"status" jsonschema:"enum=active,enum=completed,enum=exited,enum=failed"`
	NodePath   *string       `json:"node_path" voice:"ours" jsonschema:"nullable" jsonschema_description:"Step where the run is, or where it ended; null before the first step."`
	Cause      Cause         `json:"trigger_cause" jsonschema:"enum=segment_entered,enum=activity_triggered,enum=event_triggered,enum=date_reached,enum=back_enrolled"`
	SourceKey  string        `json:"trigger_source_key" voice:"untrusted" jsonschema_description:"Key of the segment, or name of the activity, event or attribute."`
	NextAction *time.Time    `json:"next_action_at" jsonschema:"nullable" jsonschema_description:"When a timer lets the run continue."`
	StartedAt  time.Time     `json:"started_at"`
	Completed  *time.Time    `json:"completed_at" jsonschema:"nullable" jsonschema_description:"When the run ended."`
}

func runRecordOf(r Run) RunRecord {
	return RunRecord{
		ID: r.ID, WorkflowID: r.WorkflowID, Version: r.Version, ContactID: r.ContactID, Status: r.State.Status, NodePath: orNull(r.State.Node),
		Cause: r.Cause, SourceKey: r.SourceKey, NextAction: timeOrNull(r.State.WakeAt), StartedAt: r.StartedAt, Completed: r.CompletedAt,
	}
}

// timeOrNull returns nil for the zero time.
func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// EventRecord is an event in the timeline of a run as REST shows it.
type EventRecord struct {
	NodePath   string           `json:"node_path" voice:"ours" jsonschema_description:"Step of the event; empty for the event enrolled."`
	Type       engine.EventType `json:"event_type" jsonschema:"enum=enrolled,enum=step_entered,enum=wait_started,enum=wait_met,enum=wait_timed_out,enum=send_filtered,enum=send_held,enum=send_skipped,enum=send_failed,enum=exited,enum=completed,enum=failed"`
	OccurredAt time.Time        `json:"occurred_at"`
	Iteration  int              `json:"repeat_iteration,omitempty" jsonschema_description:"Pass of the innermost repeat around the step, from 1."`
	Arm        string           `json:"split_arm,omitempty" voice:"ours"`
	Tier       engine.Tier      `json:"filter_tier,omitempty" jsonschema:"enum=frequency_cap,enum=account,enum=topic"`
	Reason     engine.Reason    `json:"filter_reason,omitempty" jsonschema:"enum=frequency_cap,enum=suppressed,enum=unsubscribed_all,enum=opted_out"`
	Detail     string           `json:"detail,omitempty" voice:"untrusted" jsonschema_description:"Arm of an if, end of a wait, name or kind of an exit, or cause of a failure."`
}

func eventRecordOf(e Event) EventRecord {
	r := EventRecord{
		NodePath: e.Path, Type: e.Type, OccurredAt: e.At, Iteration: e.Iteration, Arm: e.Arm, Tier: e.Tier, Reason: e.Reason, Detail: e.Detail,
	}
	switch {
	case r.Detail != "":
	case e.Exit != "":
		r.Detail = e.Exit
	case e.Kind != "":
		r.Detail = string(e.Kind)
	}
	return r
}

// ExitRecord is the number of runs that ended in one way.
type ExitRecord struct {
	Type  engine.EventType `json:"event_type" jsonschema:"enum=exited,enum=completed,enum=failed"`
	Kind  *engine.ExitKind `json:"exit_kind" jsonschema:"nullable,enum=named,enum=step,enum=hold_out,enum=cancelled,enum=archived" jsonschema_description:"null: the run passed the last step, or failed."`
	Name  *string          `json:"exit_name" voice:"untrusted" jsonschema:"nullable" jsonschema_description:"Name of a named exit."`
	Count int              `json:"count"`
}

func exitRecordsOf(counts []ExitCount) []ExitRecord {
	records := []ExitRecord{}
	for _, c := range counts {
		records = append(records, ExitRecord{c.Type, orNull(c.Kind), orNull(c.Name), c.Count})
	}
	return records
}

// NodeRecord says how many runs have come to a step.
type NodeRecord struct {
	NodePath string `json:"node_path" voice:"ours"`
	NodeType string `json:"node_type" jsonschema:"enum=send,enum=wait,enum=wait_until,enum=wait_for,enum=if,enum=split,enum=hold_out,enum=repeat,enum=set_attribute,enum=add_to_list,enum=exit"`
	Runs     int    `json:"runs" jsonschema_description:"Runs that came to the step."`
	Entries  int    `json:"entries" jsonschema_description:"How often they came: more than runs in a repeat."`
}

// SendRecord counts the messages of a send step by outcome.
type SendRecord struct {
	NodePath string `json:"node_path" voice:"ours"`
	Sent     int    `json:"sent"`
	Filtered int    `json:"filtered" jsonschema_description:"Not sent: suppressed, opted out, or over the frequency cap."`
	Failed   int    `json:"failed"`
	Deferred int    `json:"deferred" jsonschema_description:"Waiting for the sending account."`
}
