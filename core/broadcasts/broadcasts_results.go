package broadcasts

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handover"
)

// ListResultsIn names a broadcast and has the filter, the page size and the cursor for a page
// of its results.
type ListResultsIn struct {
	ID     string         `json:"id" jsonschema:"maxLength=64" jsonschema_description:"Id of the broadcast."`
	Result handover.State `json:"result,omitempty" jsonschema:"enum=sent,enum=failed,enum=filtered" jsonschema_description:"Only recipients with this result. Default: all."`
	Limit  int            `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor string         `json:"cursor,omitempty" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

// Result is the outcome of one recipient.
type Result struct {
	ContactID     string         `json:"contact_id" jsonschema:"format=uuid"`
	Email         string         `json:"email" voice:"untrusted"`
	Result        handover.State `json:"result" jsonschema:"enum=sent,enum=failed,enum=filtered"`
	MessageID     string         `json:"message_id,omitempty" voice:"ours" jsonschema_description:"The provider's id, of a sent message."`
	FailureReason string         `json:"failure_reason,omitempty" voice:"untrusted" jsonschema_description:"Why it failed. outcome_unknown: the account did not answer, so the message may have been sent."`
	FilterTier    handover.Tier  `json:"filter_tier,omitempty" jsonschema:"enum=account,enum=topic" jsonschema_description:"account: suppressed, or opted out of all mail; topic: opted out of the topic."`
	OccurredAt    time.Time      `json:"occurred_at"`
}

// resultOf returns the outcome of a recipient.
func resultOf(r handover.Recipient) Result {
	return Result{
		ContactID: r.Key, Email: r.Email, Result: r.State, MessageID: r.MessageID, FailureReason: r.Reason, FilterTier: r.Tier, OccurredAt: r.At,
	}
}

func (b *Broadcasts) broadcastsResults() core.Operation {
	return core.Declare(core.Op[ListResultsIn, core.Page[Result]]{
		Name:    "broadcasts_results",
		Title:   "List the results of a broadcast",
		Purpose: "Lists what happened to each recipient of a broadcast, latest first. It does not show recipients whose message is still to be sent, nor what happened after the account accepted a message.",
		Example: `{"id": "` + exampleSentID + `", "result": "sent", "limit": 2}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.BroadcastsView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in ListResultsIn) (core.Page[Result], error) {
			return b.Results(ctx, c.Principal.Org.ID, in, "")
		},
	})
}

// exampleSentID is the id of a broadcast of the demo that was sent.
const exampleSentID = "0198c7a2-5d3e-7a01-8b00-2f61c0d4b102"

// Results returns a page of the outcomes of a broadcast, the latest first. part selects
// recipients whose address contains the text, in any case; "" selects all. It fails with
// core.CodeNotFound for an unknown broadcast.
func (b *Broadcasts) Results(ctx context.Context, orgID string, in ListResultsIn, part string) (core.Page[Result], error) {
	if _, err := b.Store.Broadcast(ctx, orgID, in.ID); err != nil {
		return core.Page[Result]{}, err
	}
	filter := fmt.Sprintf("results %s %q %q", in.ID, in.Result, part)
	read := func(after *core.After, limit int) ([]Result, error) {
		rows, err := b.Outcomes.Outcomes(ctx, orgID, in.ID, handover.OutcomeFilter{State: in.Result, Part: part, After: after, Limit: limit})
		results := make([]Result, len(rows))
		for i, row := range rows {
			results[i] = resultOf(row)
		}
		return results, err
	}
	return core.ReadPage(filter, in.Cursor, in.Limit, read, func(r Result) core.After { return core.After{At: r.OccurredAt, ID: r.ContactID} })
}
