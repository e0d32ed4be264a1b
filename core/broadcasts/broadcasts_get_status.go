package broadcasts

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Status is the state of a broadcast as agents see it.
type Status struct {
	BroadcastID string     `json:"broadcast_id" jsonschema:"format=uuid"`
	Name        string     `json:"name" voice:"untrusted"`
	State       State      `json:"state" jsonschema:"enum=draft,enum=scheduled,enum=sending,enum=sent,enum=partially_failed,enum=cancelled"`
	ScheduleAt  *time.Time `json:"schedule_at" jsonschema:"nullable"`
	StartedAt   *time.Time `json:"started_at" jsonschema:"nullable"`
	CompletedAt *time.Time `json:"completed_at" jsonschema:"nullable"`
	Summary     *Summary   `json:"summary" jsonschema:"nullable" jsonschema_description:"Counts of recipients; null before the send begins."`
	Paused      *Pause     `json:"paused" jsonschema:"nullable"`
	Approval    *Approval  `json:"approval" jsonschema:"nullable" jsonschema_description:"Decision of a person about the send; null: none was asked for."`
	Next        string     `json:"next_step" voice:"ours" jsonschema_description:"What to do next, in a sentence."`
}

func (b *Broadcasts) broadcastsGetStatus() core.Operation {
	type in struct {
		BroadcastID string `json:"broadcast_id" jsonschema:"maxLength=64" jsonschema_description:"Id of the broadcast, from broadcasts_compose."`
	}
	return core.Declare(core.Op[in, Status]{
		Name:  "broadcasts_get_status",
		Title: "Read the status of a broadcast",
		Purpose: "Reads the state of a broadcast and the counts of its recipients. " +
			"Use it after sending. Returns state, counts and the next step. It does not list recipients.",
		Example: `{"broadcast_id": "` + exampleID + `"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.BroadcastsView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in in) (Status, error) {
			found, err := b.Store.Broadcast(ctx, c.Principal.Org.ID, in.BroadcastID)
			if err != nil {
				return Status{}, err
			}
			approval, err := b.approvalOf(ctx, c.Principal.Org.ID, found.ID)
			return Status{
				BroadcastID: found.ID, Name: found.Name, State: found.State, ScheduleAt: found.ScheduleAt, StartedAt: found.StartedAt,
				CompletedAt: found.CompletedAt, Summary: summaryOf(found), Paused: found.Paused, Approval: approval,
				Next: nextStep(found, approval),
			}, err
		},
	})
}

// nextStep says what the caller can do next.
func nextStep(of Broadcast, approval *Approval) string {
	if of.Paused != nil {
		return pauseStep(*of.Paused)
	}
	switch of.State {
	case Draft:
		if step := approvalStep(approval); step != "" {
			return step
		}
		return "Preview it with broadcasts_preview and test it with broadcasts_test_send, then send it with broadcasts_send."
	case Scheduled:
		return "It starts by itself. A person can reschedule or cancel it on the dashboard."
	case Sending:
		return fmt.Sprintf("It sends: %d of %d recipients have an outcome. Ask again in a minute.", of.Sent+of.Failed+of.Filtered, *of.AudienceSize)
	case Sent, PartiallyFailed:
		return "It has ended. messages_search and messages_diagnose explain what happened to single messages."
	}
	return "It was cancelled. Compose another broadcast to send the message."
}

// pauseStep says how a pause ends.
func pauseStep(p Pause) string {
	switch p.Reason {
	case PausedByPerson:
		return "A person paused it on the dashboard and can resume it there."
	case PausedByCap:
		return "The application has mailed as many recipients today as it may. It goes on tomorrow (UTC)."
	case PausedByStop:
		return "A person stopped all mail of the organization. It goes on when a person allows mail again on the dashboard."
	case PausedByFault:
		return "It could not start, because its content, audience or sender changed. A person can correct it on the dashboard."
	}
	return "The sending account accepts no messages now. It goes on by itself when the account does."
}
