package messages

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// ListRecipientIn names a recipient, and has the time window and the page parameters of the
// list of messages to that recipient.
type ListRecipientIn struct {
	Email  string     `json:"email" jsonschema:"minLength=1,maxLength=320" jsonschema_description:"Whole address of the recipient as used in the message, case-sensitive."`
	From   *time.Time `json:"from,omitempty" jsonschema_description:"Start of the window. Default: 30 days before now, or before to if that is earlier. Limited by the plan's retention."`
	To     *time.Time `json:"to,omitempty" jsonschema_description:"End of the window. Default: now."`
	Limit  int        `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor string     `json:"cursor,omitempty" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

func (m *Messages) recipientsMessages() core.Operation {
	return core.Declare(core.Op[ListRecipientIn, core.Page[Record]]{
		Name:    "recipients_messages",
		Title:   "List the messages of a recipient",
		Purpose: "Pages through the messages to one recipient in a window, newest first. An address that never got mail has no messages. `to` is the first recipient of each message, which may be another address.",
		Example: `{"email": "ada.almeida@example.com", "limit": 2}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.MessagesUnmask},
		Fails:   []core.Code{core.CodePlanRetentionExceeded},
		Do:      m.listOfRecipient,
	})
}

func (m *Messages) listOfRecipient(ctx context.Context, c *core.Call, in ListRecipientIn) (core.Page[Record], error) {
	if err := refusePartialAddress("email", in.Email); err != nil {
		return core.Page[Record]{}, err
	}
	window, err := core.WindowOf(in.From, in.To, c.Now, c.Principal.Org.RetentionDays)
	if err != nil {
		return core.Page[Record]{}, err
	}
	filter := fmt.Sprintf("recipient %s %s %q", timeText(in.From), timeText(in.To), in.Email)
	return m.page(ctx, c, Filter{Window: window, Recipient: in.Email}, pageAsked{filter: filter, cursor: in.Cursor, limit: core.Limit(in.Limit)})
}
