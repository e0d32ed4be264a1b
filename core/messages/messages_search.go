package messages

import (
	"context"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

const (
	// sampleSize is the number of messages in the result if the caller sends no limit.
	sampleSize = 20
	// countedTo is the highest total that the search reports. Counting further is slow, and
	// a larger total changes no decision of an agent.
	countedTo = 10_000
)

// SearchMessagesIn has the filters of messages_search. A message must match every filter
// that is set.
type SearchMessagesIn struct {
	From      *time.Time `json:"from,omitempty" jsonschema_description:"Start, RFC 3339, such as 2026-03-01T00:00:00Z. Default: 30 days before to."`
	To        *time.Time `json:"to,omitempty" jsonschema_description:"End, not included, RFC 3339. Default: now."`
	Status    EventType  `json:"status,omitempty" jsonschema:"enum=Send,enum=Delivery,enum=Bounce,enum=Complaint,enum=Reject,enum=Open,enum=Click,enum=DeliveryDelay,enum=RenderingFailure" jsonschema_description:"Only messages whose highest-ranked event is this. A message that was opened has Open, not Delivery. Default: all."`
	Template  string     `json:"template,omitempty" jsonschema:"maxLength=256" jsonschema_description:"Exact name of a template at the provider, such as welcome. Default: all."`
	Channel   string     `json:"channel,omitempty" jsonschema:"maxLength=64" jsonschema_description:"Slug, such as marketing, or id of a channel. Default: all."`
	Recipient string     `json:"recipient,omitempty" jsonschema:"maxLength=320" jsonschema_description:"Whole address of a recipient, case-sensitive. Needs the scope api.messages.unmask_recipients."`
	Limit     int        `json:"limit,omitempty" jsonschema:"minimum=1,maximum=50,default=20" jsonschema_description:"Greatest number of items in the answer."`
}

func (m *Messages) messagesSearch() core.Operation {
	return core.Declare(core.Op[SearchMessagesIn, core.Sample[Record]]{
		Name:  "messages_search",
		Title: "Search sent messages",
		Purpose: "Searches the sent messages. " +
			"Use it to find messages or count bounces. " +
			"Returns the newest, and a total up to 10,000. It does not search texts.",
		Example: `{"status": "Bounce", "template": "weekly-newsletter", "limit": 2}`,
		Effect:  core.Reads,
		Cost:    core.Heavy,
		CostOf: func(_ *core.Call, in SearchMessagesIn) core.Cost {
			return costOfFilters(in.Channel, string(in.Status), in.Template, in.Recipient)
		},
		Scopes:         []core.Scope{core.MessagesView},
		ArgumentScopes: map[string]core.Scope{"recipient": core.MessagesUnmask},
		Fails:          []core.Code{core.CodeNotFound, core.CodePlanRetentionExceeded},
		Do:             m.searchMessages,
	})
}

func (m *Messages) searchMessages(ctx context.Context, c *core.Call, in SearchMessagesIn) (core.Sample[Record], error) {
	if err := mayName(c, in.Recipient); err != nil {
		return core.Sample[Record]{}, err
	}
	window, err := core.WindowOf(in.From, in.To, c.Now, c.Principal.Org.RetentionDays)
	if err != nil {
		return core.Sample[Record]{}, err
	}
	f := Filter{Window: window, Status: in.Status, Template: in.Template, Recipient: in.Recipient}
	if in.Channel != "" {
		if f.Channel, err = m.channelOf(ctx, c, in.Channel); err != nil {
			return core.Sample[Record]{}, err
		}
	}
	page, err := m.page(ctx, c, f, pageAsked{limit: sampleLimit(in.Limit)})
	if err != nil {
		return core.Sample[Record]{}, err
	}
	if page.Total = len(page.Items); page.Next != "" {
		f.Limit = countedTo + 1
		if page.Total, err = m.Store.CountMessages(ctx, c.Principal.Org.ID, f); err != nil {
			return core.Sample[Record]{}, err
		}
	}
	if page.Total <= countedTo {
		return page.AgentView(), nil
	}
	page.Total = countedTo
	sample := page.AgentView()
	sample.More = "Counting ended at " + strconv.Itoa(countedTo) + ": there are more. " + sample.More
	return sample, nil
}

func sampleLimit(asked int) int {
	if asked == 0 {
		return sampleSize
	}
	return asked
}
