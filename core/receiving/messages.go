package receiving

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// ListMessagesIn has the filters and page parameters of the log of received mail. A message
// must match every filter that is set.
type ListMessagesIn struct {
	From      *time.Time `json:"from,omitempty" jsonschema_description:"Only messages received at this time or later. The log has 30 days."`
	To        *time.Time `json:"to,omitempty" jsonschema_description:"Only messages received before this time."`
	Domain    string     `json:"domain,omitempty" jsonschema:"maxLength=254" jsonschema_description:"Name or id of a receiving domain; also the name of a deleted one."`
	Recipient string     `json:"recipient,omitempty" jsonschema:"maxLength=320" jsonschema_description:"Whole address of an envelope recipient; case has no meaning."`
	Sender    string     `json:"sender,omitempty" jsonschema:"maxLength=320" jsonschema_description:"Whole address of the envelope sender; case has no meaning."`
	Outcome   Outcome    `json:"outcome,omitempty" jsonschema:"enum=received,enum=delivered,enum=retrying,enum=delivery_failed,enum=no_route,enum=dropped,enum=unknown_domain" jsonschema_description:"Only messages with this outcome."`
	Limit     int        `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor    string     `json:"cursor,omitempty" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

func (r *Receiving) messagesList() core.Operation {
	return core.Declare(core.Op[ListMessagesIn, core.Page[Message]]{
		Name:    "inbound_messages_list",
		Title:   "List received messages",
		Purpose: "Pages through the log of mail that came to receiving domains, newest first: one entry for each message and domain, with its verdicts and its outcome. It returns no bodies and no attachments; the webhook gets those.",
		Example: `{"domain": "in.example.com", "limit": 2}`,
		Effect:  core.Reads,
		Cost:    core.Heavy,
		CostOf: func(_ *core.Call, in ListMessagesIn) core.Cost {
			if in.Domain+in.Recipient+in.Sender+string(in.Outcome) != "" { // without an index
				return core.Heavy
			}
			return core.Light
		},
		Scopes: []core.Scope{core.InboundView},
		Do:     r.listMessages,
	})
}

func (r *Receiving) listMessages(ctx context.Context, c *core.Call, in ListMessagesIn) (core.Page[Message], error) {
	if in.From != nil && in.To != nil && !in.From.Before(*in.To) {
		return core.Page[Message]{}, core.Invalid("from", "is not before `to`")
	}
	org := c.Principal.Org.ID
	f := MessageFilter{From: in.From, To: in.To, Recipient: core.EmailKey(in.Recipient), Sender: core.EmailKey(in.Sender), Outcome: in.Outcome}
	if in.Domain != "" {
		f.Domain = reference(in.Domain)
		if core.IsID(f.Domain) {
			d, err := r.Store.Domain(ctx, org, f.Domain)
			switch {
			case err == nil:
				f.Domain = d.Domain
			case !core.IsNotFound(err): // an unknown id finds no message, like an unknown name
				return core.Page[Message]{}, err
			}
		}
	}
	return core.ReadPage(in.filterText(), in.Cursor, in.Limit, func(after *core.After, limit int) ([]Message, error) {
		return r.Log.Messages(ctx, org, f, after, limit)
	}, func(m Message) core.After { return core.After{At: m.ReceivedAt, ID: m.ID} })
}

// filterText returns the filters as text, so that a cursor is refused in a list with others.
func (in ListMessagesIn) filterText() string {
	return fmt.Sprintf("received %s %s %q %q %q %q", timeText(in.From), timeText(in.To), in.Domain, in.Recipient, in.Sender, in.Outcome)
}

func timeText(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// GetMessageIn names a received message.
type GetMessageIn struct {
	MessageID string `json:"message_id" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Member id of the entry. A message_id finds the first entry of that message."`
}

// MessageWithStates is a message of the log with every state that it passed.
type MessageWithStates struct {
	Message
	States []State `json:"states" jsonschema_description:"Oldest first. Each attempt of a delivery is a state."`
}

func (r *Receiving) messagesGet() core.Operation {
	return core.Declare(core.Op[GetMessageIn, MessageWithStates]{
		Name:    "inbound_messages_get",
		Title:   "Read a received message",
		Purpose: "Reads one entry of the log of received mail with every state that the message passed, including each attempt to deliver it to the webhook. It returns no body.",
		Example: `{"message_id": "0198c5a0-0000-7000-8000-00000000b001"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.InboundView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in GetMessageIn) (MessageWithStates, error) {
			return r.Log.Message(ctx, c.Principal.Org.ID, in.MessageID)
		},
	})
}
