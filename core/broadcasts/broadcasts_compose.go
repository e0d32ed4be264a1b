package broadcasts

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
)

// Composed is a new draft, with what its author should know about it.
type Composed struct {
	BroadcastID string   `json:"broadcast_id" jsonschema:"format=uuid"`
	Estimate    Estimate `json:"audience_estimate"`
	Warnings    []string `json:"warnings" voice:"ours" jsonschema_description:"What to think of before sending."`
	Summary     string   `json:"summary" voice:"ours"`
}

// Estimate says how many members of the audience would get the message now.
type Estimate struct {
	Size      int `json:"audience_size"`
	Mailable  int `json:"mailable"`
	ByAccount int `json:"filtered_by_account" jsonschema_description:"Suppressed, or opted out of all mail."`
	ByTopic   int `json:"filtered_by_topic" jsonschema_description:"Opted out of the topic."`
}

// estimateOf returns the reach as an estimate.
func estimateOf(r Reach) Estimate {
	return Estimate(r)
}

func (b *Broadcasts) broadcastsCreate() core.Operation {
	return core.Declare(core.Op[Definition, Record]{
		Name:    "broadcasts_create",
		Title:   "Create a broadcast",
		Purpose: "Creates a draft of a message to a list or segment. It does not send.",
		Example: `{"name": "Spring news", "template_id": "welcome", "audience_kind": "list", "audience_id": "newsletter", "topic_id": "events"}`,
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.BroadcastsManage},
		Do: func(ctx context.Context, c *core.Call, in Definition) (Record, error) {
			made, err := b.create(ctx, c, in)
			return recordOf(made), err
		},
	})
}

func (b *Broadcasts) broadcastsCompose() core.Operation {
	return core.Declare(core.Op[Definition, Composed]{
		Name:  "broadcasts_compose",
		Title: "Compose a broadcast",
		Purpose: "Creates a draft of a message to a list or segment, from a template or inline HTML. " +
			"Use it first; then preview, test and send. Returns the draft's id, who would get it, and warnings. It does not send.",
		Example: `{"name": "Spring news", "template_id": "welcome", "audience_kind": "list", "audience_id": "newsletter", "topic_id": "events"}`,
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.BroadcastsManage, core.ListsView, core.SegmentsView},
		Do:      b.compose,
	})
}

// create stores a new draft.
func (b *Broadcasts) create(ctx context.Context, c *core.Call, in Definition) (Broadcast, error) {
	org := c.Principal.Org.ID
	made, err := b.apply(ctx, org, in, Broadcast{
		ID: core.NewID(), State: Draft, CreatedAt: c.Now, UpdatedAt: c.Now, CreatedBy: authorOf(c), Revision: 1,
	})
	if err != nil {
		return Broadcast{}, err
	}
	c.SetSubject(made.ID)
	return made, b.Store.Insert(ctx, org, made)
}

// authorOf returns the caller as an author.
func authorOf(c *core.Call) Author {
	return Author{Kind: string(c.Principal.Credential.Kind), ID: c.Principal.Credential.ID, UserID: c.Principal.UserID}
}

// applicationOf returns the id of the application that calls, "" for a key or a person.
func applicationOf(c *core.Call) string {
	if c.Principal.Credential.Kind == core.OAuthClient {
		return c.Principal.Credential.ID
	}
	return ""
}

func (b *Broadcasts) compose(ctx context.Context, c *core.Call, in Definition) (Composed, error) {
	made, err := b.create(ctx, c, in)
	if err != nil {
		return Composed{}, err
	}
	reach, err := b.Audience.Reach(ctx, c.Principal.Org.ID, made.Target, made.Topic)
	if err != nil {
		return Composed{}, err
	}
	warnings, err := b.warnings(ctx, c.Principal.Org.ID, made, reach)
	return Composed{
		BroadcastID: made.ID, Estimate: estimateOf(reach), Warnings: warnings,
		Summary: fmt.Sprintf("Saved a draft. %d of %d members of the audience would get it now. No mail was sent.", reach.Mailable, reach.Size),
	}, err
}
