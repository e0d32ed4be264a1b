package messages

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

const (
	// sampleSize is how many messages an agent gets that names no limit.
	sampleSize = 20
	// countedTo is where counting ends: what comes after changes no decision, and
	// an agent asks again and again.
	countedTo = 10_000
)

// SearchMessagesIn narrows messages. Filters that are set must all match.
type SearchMessagesIn struct {
	From      *time.Time `json:"from,omitempty" jsonschema_description:"30 days ago unless given."`
	To        *time.Time `json:"to,omitempty" jsonschema_description:"Now unless given."`
	Status    EventType  `json:"status,omitempty" jsonschema:"enum=Send,enum=Delivery,enum=Bounce,enum=Complaint,enum=Reject,enum=Open,enum=Click,enum=DeliveryDelay"`
	Template  string     `json:"template,omitempty" jsonschema:"maxLength=256" jsonschema_description:"Exact name at the provider."`
	Channel   string     `json:"channel,omitempty" jsonschema:"maxLength=64" jsonschema_description:"Slug of the channel."`
	Recipient string     `json:"recipient,omitempty" jsonschema:"maxLength=320" jsonschema_description:"Whole address; needs api.messages.unmask_recipients."`
	Limit     int        `json:"limit,omitempty" jsonschema:"minimum=1,maximum=50,default=20"`
}

// FoundMessages is a sample of the messages that fit, newest first.
type FoundMessages struct {
	core.Sample[Record]

	TotalIsMinimum bool `json:"total_is_minimum,omitempty" jsonschema_description:"Whether counting ended at total and there are more."`
}

func (m *Messages) messagesSearch() core.Operation {
	return core.Declare(core.Op[SearchMessagesIn, FoundMessages]{
		Name:  "messages_search",
		Title: "Search sent messages",
		Purpose: "Searches the messages sent in a window by status, template, channel or recipient. " +
			"Use it to find a message, or how many bounced. " +
			"Returns the newest, recipients masked without `api.messages.unmask_recipients`, and the total, counted to 10,000. It does not search texts or say why: see messages_diagnose.",
		Effect: core.Reads,
		Scopes: []core.Scope{core.MessagesView},
		Do:     m.searchMessages,
	})
}

func (m *Messages) searchMessages(ctx context.Context, c *core.Call, in SearchMessagesIn) (FoundMessages, error) {
	if err := mayName(c, in.Recipient); err != nil {
		return FoundMessages{}, err
	}
	window, err := core.WindowOf(in.From, in.To, c.Now, c.Principal.Org.RetentionDays)
	if err != nil {
		return FoundMessages{}, err
	}
	f := Filter{Window: window, Status: in.Status, Template: in.Template, Channel: in.Channel, Recipient: in.Recipient}
	page, err := m.page(ctx, c, f, pageAsked{limit: sampleLimit(in.Limit)})
	if err != nil {
		return FoundMessages{}, err
	}
	if page.Total = len(page.Items); page.Next != "" {
		f.Limit = countedTo + 1
		if page.Total, err = m.Store.CountMessages(ctx, c.Principal.Org.ID, f); err != nil {
			return FoundMessages{}, err
		}
	}
	found := FoundMessages{TotalIsMinimum: page.Total > countedTo}
	page.Total = min(page.Total, countedTo)
	found.Sample = page.AgentView()
	return found, nil
}

func sampleLimit(asked int) int {
	if asked == 0 {
		return sampleSize
	}
	return asked
}
