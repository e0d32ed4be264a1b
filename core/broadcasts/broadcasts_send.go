package broadcasts

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// SendBroadcastIn names the broadcast to send, and when.
type SendBroadcastIn struct {
	WithID
	ScheduledAt        *time.Time `json:"scheduled_at,omitempty" jsonschema_description:"Time of the send, in the future and at most a year ahead (RFC 3339). Default: at once."`
	AcknowledgeNoTopic bool       `json:"acknowledge_no_topic,omitempty" jsonschema_description:"Needed for a broadcast without a topic. Default: false."`
}

// maxAhead is how far in the future a broadcast can be scheduled.
const maxAhead = 366 * 24 * time.Hour

// The values of Started.Status.
const (
	statusSending   = "sending"
	statusScheduled = "scheduled"
	// statusAwaiting: the broadcast stays a draft until a person approves the send.
	statusAwaiting = "awaiting_approval"
)

// Started is the result of sending a broadcast.
type Started struct {
	ID string
	// Status is sending, scheduled or awaiting_approval.
	Status  string
	Summary string
}

// StartedREST is Started over REST.
type StartedREST struct {
	ID     string `json:"id" jsonschema:"format=uuid"`
	Status string `json:"status" jsonschema:"enum=sending,enum=scheduled,enum=awaiting_approval"`
}

// StartedAgent is Started for agents.
type StartedAgent struct {
	BroadcastID string `json:"broadcast_id" jsonschema:"format=uuid"`
	Status      string `json:"status" jsonschema:"enum=sending,enum=scheduled,enum=awaiting_approval"`
	Summary     string `json:"summary" voice:"ours"`
}

// RESTView returns the result in the form of REST.
func (s Started) RESTView() StartedREST { return StartedREST{s.ID, s.Status} }

// AgentView returns the result in the form for agents.
func (s Started) AgentView() StartedAgent { return StartedAgent{s.ID, s.Status, s.Summary} }

// SendPreview says what a send would do. A caller confirms exactly this.
type SendPreview struct {
	Name         string     `json:"name"`
	Audience     string     `json:"audience"`
	AudienceKind string     `json:"audience_kind"`
	AudienceSize int        `json:"audience_size"`
	Mailable     int        `json:"mailable"`
	ByAccount    int        `json:"filtered_by_account"`
	ByTopic      int        `json:"filtered_by_topic"`
	Topic        *string    `json:"topic_id"`
	From         string     `json:"from"`
	Subject      string     `json:"subject"`
	ScheduledAt  *time.Time `json:"scheduled_at"`
	// Blank has the variables that some members have no value for, with their numbers.
	Blank []BlankVariable `json:"blank"`
	// Content is a hash of what the messages share.
	Content  string `json:"content_hash"`
	Revision int    `json:"revision"`
	// NeedsApproval is true if the send would wait for a person.
	NeedsApproval bool `json:"needs_approval"`
}

// BlankVariable is a variable that renders blank for some members of an audience.
type BlankVariable struct {
	Variable string `json:"variable"`
	Members  int    `json:"recipients"`
}

func (b *Broadcasts) broadcastsSend() core.Operation {
	return core.Declare(core.Op[SendBroadcastIn, Started]{
		Name:  "broadcasts_send",
		Title: "Send a broadcast",
		Purpose: "Sends a draft to its audience, now or at a time. " +
			"Call it after a preview and a test. Over the agent endpoint the first call returns what would happen, and a second call confirms it. " +
			"Returns the status; at `awaiting_approval` a person decides. It does not wait for the end; broadcasts_get_status has the counts.",
		Example:       `{"id": "` + exampleID + `"}`,
		AgentExample:  agentExample,
		Effect:        core.Destroys,
		ReachesPeople: true,
		Scopes:        []core.Scope{core.BroadcastsManage},
		Fails:         []core.Code{core.CodeNotFound, core.CodeNoTopicAcknowledgementNeeded},
		Confirm:       b.confirmSend,
		Prepare:       b.prepareSend,
		Do:            b.send,
	})
}

// prepareSend reads the suppression list of the account, by which recipients are judged. If
// the account does not answer, the last copy is used; the account applies its list itself.
func (b *Broadcasts) prepareSend(ctx context.Context, c *core.Call, in SendBroadcastIn) (SendBroadcastIn, error) {
	if err := b.RefreshSuppressions(ctx, c.Principal.Org.ID); err != nil {
		b.Log.WarnContext(ctx, "the suppression list could not be read before a send", "org_id", c.Principal.Org.ID, "error", err)
	}
	return in, nil
}

// confirmSend describes what the send would do.
func (b *Broadcasts) confirmSend(ctx context.Context, c *core.Call, in SendBroadcastIn) (*core.Confirmation, error) {
	found, _, err := b.sendable(ctx, c, in)
	if err != nil {
		return nil, err
	}
	preview, err := b.sendPreview(ctx, c.Principal.Org.ID, found, in.ScheduledAt)
	if err != nil {
		return nil, err
	}
	if b.Approvals != nil {
		if preview.NeedsApproval, err = b.Approvals.Needs(ctx, c.Principal.Org.ID, authorOf(c), found.Target, preview); err != nil {
			return nil, err
		}
	}
	return &core.Confirmation{Message: preview.Sentence(), Preview: preview}, nil
}

// sendable returns the broadcast if it may be sent, and its content for storing it.
func (b *Editor) sendable(ctx context.Context, c *core.Call, in SendBroadcastIn) (found Broadcast, content string, err error) {
	org := c.Principal.Org.ID
	if found, err = b.Store.Broadcast(ctx, org, in.id()); err != nil {
		return Broadcast{}, "", err
	}
	if found.State != Draft {
		return Broadcast{}, "", core.Conflict(fmt.Sprintf("The broadcast is not a draft: its state is %s.", core.Quote(string(found.State))), "Read it, and create another broadcast to send the message again.")
	}
	if at := in.ScheduledAt; at != nil && !at.After(c.Now) {
		return Broadcast{}, "", core.Invalid("scheduled_at", "must be in the future; leave it out to send at once")
	} else if at != nil && at.After(c.Now.Add(maxAhead)) {
		return Broadcast{}, "", core.Invalid("scheduled_at", "must be at most a year ahead")
	}
	if found.Topic == "" && !in.AcknowledgeNoTopic {
		return Broadcast{}, "", &core.Error{
			Code: core.CodeNoTopicAcknowledgementNeeded, Message: NoTopicWarning,
			Next: "Send `acknowledge_no_topic: true` if that is meant, or create the broadcast with a topic.", Extra: map[string]any{"warnings": []string{NoTopicWarning}},
		}
	}
	content, err = b.checkSendable(ctx, org, found)
	return found, content, err
}

// checkSendable checks what may have changed since the draft was written. It returns the
// content of now as JSON, for storing it at the start of the send. It fails with
// core.CodeValidationFailed if the broadcast cannot be sent.
func (b *renderer) checkSendable(ctx context.Context, orgID string, of Broadcast) (string, error) {
	if _, err := b.Audiences.Audience(ctx, orgID, of.AudienceKind, of.AudienceID); core.IsNotFound(err) {
		return "", core.Invalid("audience_id", "names a "+string(of.AudienceKind)+" that was deleted or archived; change the audience on the dashboard, or create another broadcast")
	} else if err != nil {
		return "", err
	}
	for _, check := range []func(context.Context, string, Broadcast) (*core.FieldError, error){b.checkTopic, b.checkSender} {
		fault, err := check(ctx, orgID, of)
		if err != nil {
			return "", err
		}
		if fault != nil {
			return "", core.InvalidFields(*fault)
		}
	}
	content, err := b.content(ctx, orgID, of)
	if err == nil {
		_, err = content.Compile()
	}
	fault, err := contentFault(of, err)
	switch {
	case err != nil:
		return "", err
	case fault != nil:
		return "", core.InvalidFields(*fault)
	case content.From == "":
		return "", noSender()
	}
	return frozen(content)
}

func (b *Broadcasts) send(ctx context.Context, c *core.Call, in SendBroadcastIn) (Started, error) {
	found, content, err := b.sendable(ctx, c, in)
	if err != nil {
		return Started{}, err
	}
	c.SetSubject(found.ID)
	held, err := b.hold(ctx, c, found, in.ScheduledAt)
	if err != nil {
		return Started{}, err
	}
	if held != nil {
		return Started{ID: found.ID, Status: statusAwaiting, Summary: waitsText(*held)}, nil
	}
	found.Application, found.UpdatedAt = applicationOf(c), c.Now
	out := Started{ID: found.ID, Status: statusSending}
	if in.ScheduledAt != nil {
		at := in.ScheduledAt.UTC()
		found.State, found.ScheduleAt, out.Status = Scheduled, &at, statusScheduled
		out.Summary = "Scheduled for " + at.Format(time.RFC3339) + ". Nothing is sent before."
		return out, b.Store.Update(ctx, c.Principal.Org.ID, found)
	}
	if found, err = b.start(ctx, c.Principal.Org.ID, found, content, c.Now); err != nil {
		return Started{}, err
	}
	out.Summary = fmt.Sprintf("The send to %d members of the audience has begun. Those who are suppressed or opted out get nothing.", *found.AudienceSize)
	c.Defer(b.wake)
	return out, nil
}

// start copies the audience and begins the send with the content that checkSendable
// returned. It runs in the same transaction.
func (b *Editor) start(ctx context.Context, orgID string, of Broadcast, content string, now time.Time) (Broadcast, error) {
	size, err := b.Audience.Freeze(ctx, orgID, of, now)
	if err != nil {
		return Broadcast{}, err
	}
	of.State, of.StartedAt, of.UpdatedAt, of.Frozen, of.AudienceSize, of.PacedAt = Sending, &now, now, content, &size, now
	return of, b.Store.Update(ctx, orgID, of)
}
