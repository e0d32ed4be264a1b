package broadcasts

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Record is a broadcast as REST shows it. The content of inline broadcasts is not part of
// it.
type Record struct {
	ID              string         `json:"id" jsonschema:"format=uuid"`
	Name            string         `json:"name" voice:"untrusted"`
	TemplateID      *string        `json:"template_id" voice:"untrusted" jsonschema:"nullable" jsonschema_description:"Slug of the template; null: the content is inline."`
	TemplateVersion *int           `json:"template_version" jsonschema:"nullable" jsonschema_description:"Version of the template; null: the newest when the send begins, or inline content."`
	AudienceKind    AudienceKind   `json:"audience_kind" jsonschema:"enum=list,enum=segment"`
	AudienceID      string         `json:"audience_id" jsonschema:"format=uuid"`
	Subject         string         `json:"subject" voice:"untrusted" jsonschema_description:"Empty: that of the template."`
	PreviewText     string         `json:"preview_text" voice:"untrusted"`
	TopicID         *string        `json:"topic_id" voice:"untrusted" jsonschema:"nullable" jsonschema_description:"Name of the topic."`
	FromIdentity    *string        `json:"from_identity" voice:"untrusted" jsonschema:"nullable" jsonschema_description:"Sender; null: the default sender."`
	ScheduleAt      *time.Time     `json:"schedule_at" jsonschema:"nullable"`
	State           State          `json:"state" jsonschema:"enum=draft,enum=scheduled,enum=sending,enum=sent,enum=partially_failed,enum=cancelled"`
	RecipientCount  *int           `json:"recipient_count" jsonschema:"nullable" jsonschema_description:"Null until the send ends, like the counts below."`
	SentCount       *int           `json:"sent_count" jsonschema:"nullable"`
	FailedCount     *int           `json:"failed_count" jsonschema:"nullable"`
	StartedAt       *time.Time     `json:"started_at" jsonschema:"nullable"`
	CompletedAt     *time.Time     `json:"completed_at" jsonschema:"nullable"`
	CreatedAt       time.Time      `json:"created_at"`
	UpdatedAt       time.Time      `json:"updated_at"`
	DefaultData     map[string]any `json:"default_template_data" voice:"untrusted" jsonschema_description:"Values of variables for all recipients."`
	Summary         *Summary       `json:"summary" jsonschema:"nullable" jsonschema_description:"Null before the send begins."`
	Paused          *Pause         `json:"paused" jsonschema:"nullable" jsonschema_description:"Why it waits; null: it does not."`
	Approval        *Approval      `json:"approval" jsonschema:"nullable" jsonschema_description:"Decision of a person about the send; null: none was asked for."`
	RatePerMinute   *int           `json:"rate_per_minute" jsonschema:"nullable" jsonschema_description:"Greatest number of messages a minute; null: as many as the account takes."`
}

// Summary has counts of the recipients of a broadcast. While it sends, they may lag.
type Summary struct {
	AudienceSize int `json:"audience_size" jsonschema_description:"Recipients, copied when the send began."`
	Mailable     int `json:"mailable" jsonschema_description:"Recipients that passed the checks: sent and failed."`
	Sent         int `json:"sent"`
	Failed       int `json:"failed"`
	Filtered     int `json:"filtered" jsonschema_description:"Recipients that did not pass the checks."`
}

// recordOf returns the broadcast as REST shows it.
func recordOf(b Broadcast) Record {
	r := Record{
		ID: b.ID, Name: b.Name, AudienceKind: b.AudienceKind, AudienceID: b.AudienceID, Subject: b.Subject, PreviewText: b.PreviewText,
		TemplateID: orNull(b.Template), TemplateVersion: orNull(b.TemplateVersion), TopicID: orNull(b.Topic), FromIdentity: orNull(b.From),
		ScheduleAt: b.ScheduleAt, State: b.State, StartedAt: b.StartedAt, CompletedAt: b.CompletedAt, CreatedAt: b.CreatedAt, UpdatedAt: b.UpdatedAt,
		DefaultData: b.Data, Summary: summaryOf(b), Paused: b.Paused, RatePerMinute: orNull(b.Rate),
	}
	if r.DefaultData == nil {
		r.DefaultData = map[string]any{}
	}
	if b.CompletedAt != nil && b.AudienceSize != nil {
		r.RecipientCount, r.SentCount, r.FailedCount = b.AudienceSize, &b.Sent, &b.Failed
	}
	return r
}

// summaryOf returns the counts of a broadcast, nil before its send has begun.
func summaryOf(b Broadcast) *Summary {
	if b.AudienceSize == nil {
		return nil
	}
	return &Summary{AudienceSize: *b.AudienceSize, Mailable: b.Sent + b.Failed, Sent: b.Sent, Failed: b.Failed, Filtered: b.Filtered}
}

// orNull returns nil for the zero value.
func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// WithID names one broadcast. REST has the id in the path, tools in the member
// broadcast_id.
type WithID struct {
	ID          string `json:"id" only:"rest" jsonschema:"maxLength=64" jsonschema_description:"Id of the broadcast."`
	BroadcastID string `json:"broadcast_id" only:"agent" jsonschema:"maxLength=64" jsonschema_description:"Id of the broadcast, from broadcasts_compose."`
}

// id returns the id, on either surface.
func (w WithID) id() string { return w.ID + w.BroadcastID }

func (b *Broadcasts) broadcastsGet() core.Operation {
	type in struct {
		ID string `json:"id" jsonschema:"maxLength=64" jsonschema_description:"Id of the broadcast."`
	}
	return core.Declare(core.Op[in, Record]{
		Name:    "broadcasts_get",
		Title:   "Read a broadcast",
		Purpose: "Reads one broadcast with its state and counts. It does not return inline content or recipients.",
		Example: `{"id": "` + exampleID + `"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.BroadcastsView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in in) (Record, error) {
			found, err := b.Store.Broadcast(ctx, c.Principal.Org.ID, in.ID)
			if err != nil {
				return Record{}, err
			}
			record := recordOf(found)
			record.Approval, err = b.approvalOf(ctx, c.Principal.Org.ID, found.ID)
			return record, err
		},
	})
}

// exampleID is the id of the demo's draft, for the examples of the documentation.
const exampleID = "0198c7a2-5d3e-7a01-8b00-2f61c0d4b101"

// agentExample has the arguments of a tool that names the demo's draft.
const agentExample = `{"broadcast_id": "` + exampleID + `"}`
