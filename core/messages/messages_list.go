package messages

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// ListMessagesIn has the filters and page parameters of messages_list. A message must match
// every filter that is set.
type ListMessagesIn struct {
	From      *time.Time `json:"from,omitempty" jsonschema_description:"Start of the window. Default: 30 days before now, or before to if that is earlier. Limited by the plan's retention."`
	To        *time.Time `json:"to,omitempty" jsonschema_description:"End of the window. Default: now."`
	Channel   string     `json:"channel,omitempty" jsonschema:"format=uuid" jsonschema_description:"Id of a channel."`
	Status    EventType  `json:"status,omitempty" jsonschema:"enum=Send,enum=Delivery,enum=Bounce,enum=Complaint,enum=Reject,enum=Open,enum=Click,enum=DeliveryDelay,enum=RenderingFailure" jsonschema_description:"Only messages with this status."`
	Template  string     `json:"template,omitempty" jsonschema:"maxLength=256" jsonschema_description:"Exact name of a template at the provider."`
	Identity  string     `json:"identity,omitempty" jsonschema:"maxLength=320" jsonschema_description:"Sending domain, or an address, whose domain is used."`
	Recipient string     `json:"recipient,omitempty" jsonschema:"maxLength=320" jsonschema_description:"Whole address of a recipient, case-sensitive. Needs api.messages.unmask_recipients."`
	Limit     int        `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor    string     `json:"cursor,omitempty" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

func (m *Messages) messagesList() core.Operation {
	return core.Declare(core.Op[ListMessagesIn, core.Page[Record]]{
		Name:    "messages_list",
		Title:   "List messages",
		Purpose: "Pages through the messages that the account sent in a window, newest first, with filters. Recipients are masked without `api.messages.unmask_recipients`.",
		Example: `{"status": "Bounce", "limit": 2}`,
		Effect:  core.Reads,
		Cost:    core.Heavy,
		CostOf: func(_ *core.Call, in ListMessagesIn) core.Cost {
			if in.Identity != "" { // without an index
				return core.Heavy
			}
			return costOfFilters(in.Channel, string(in.Status), in.Template, in.Recipient)
		},
		Scopes:         []core.Scope{core.MessagesView},
		ArgumentScopes: map[string]core.Scope{"recipient": core.MessagesUnmask},
		Fails:          []core.Code{core.CodePlanRetentionExceeded},
		Do:             m.listMessages,
	})
}

func (m *Messages) listMessages(ctx context.Context, c *core.Call, in ListMessagesIn) (core.Page[Record], error) {
	f := Filter{Status: in.Status, Template: in.Template, Recipient: in.Recipient, Identity: domainOf(in.Identity)}
	if err := mayName(c, in.Recipient); err != nil {
		return core.Page[Record]{}, err
	}
	window, err := core.WindowOf(in.From, in.To, c.Now, c.Principal.Org.RetentionDays)
	if err != nil {
		return core.Page[Record]{}, err
	}
	f.Window = window
	cursor := pageAsked{filter: in.filterText(), cursor: in.Cursor, limit: core.Limit(in.Limit)}
	if in.Channel != "" {
		if f.Channel, err = m.channelName(ctx, c, in.Channel); err != nil {
			return core.Page[Record]{}, err
		}
		if f.Channel == "" {
			_, err := cursor.after()
			return core.Page[Record]{}, err
		}
	}
	return m.page(ctx, c, f, cursor)
}

// costOfFilters returns core.Light if at most one filter is not empty, because an index
// serves a single filter. Otherwise it returns core.Heavy, because the database checks
// further filters row by row.
func costOfFilters(filters ...string) core.Cost {
	set := 0
	for _, filter := range filters {
		if filter != "" {
			set++
		}
	}
	if set > 1 {
		return core.Heavy
	}
	return core.Light
}

// filterText returns the filters as text. A cursor contains the digest of this text, so
// that it is refused in a list with other filters. Times that the caller did not send are
// not in the text, because their defaults depend on the time of the call.
func (in ListMessagesIn) filterText() string {
	return fmt.Sprintf("messages %s %s %q %q %q %q %q", timeText(in.From), timeText(in.To), in.Channel, in.Status, in.Template, in.Identity, in.Recipient)
}

func timeText(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// mayName checks the recipient in the filter of a list. It fails with core.MissingScope if
// the caller may not see addresses, because such a caller could otherwise find addresses by
// trial. It also fails if the text before or after the last "@" is missing.
func mayName(c *core.Call, recipient string) error {
	switch {
	case recipient == "":
		return nil
	case !c.Principal.Scopes.Has(core.MessagesUnmask):
		return core.MissingScope(c, "recipient", core.MessagesUnmask)
	}
	return refusePartialAddress("recipient", recipient)
}

// refusePartialAddress fails unless the address has text before and after its last "@". It
// does not check more, because providers accept addresses that Mailhelm would refuse.
func refusePartialAddress(field, address string) error {
	if at := strings.LastIndexByte(address, '@'); at < 1 || at == len(address)-1 {
		return core.Invalid(field, "is not a whole address")
	}
	return nil
}

// domainOf returns the domain of a sending identity, which is a domain or an address, in
// lower case.
func domainOf(identity string) string {
	return strings.ToLower(identity[strings.LastIndexByte(identity, '@')+1:])
}

// pageAsked has the page parameters of a call: the filters of the list as one text, the
// cursor and the page size.
type pageAsked struct {
	filter, cursor string
	limit          int
}

func (p pageAsked) after() (*core.After, error) { return core.AfterCursor(p.filter, p.cursor) }

// page returns one page of the messages that match the filter.
func (m *Messages) page(ctx context.Context, c *core.Call, f Filter, asked pageAsked) (core.Page[Record], error) {
	var err error
	if f.After, err = asked.after(); err != nil {
		return core.Page[Record]{}, err
	}
	f.Limit = asked.limit + 1
	found, err := m.Store.Messages(ctx, c.Principal.Org.ID, f)
	if err != nil {
		return core.Page[Record]{}, err
	}
	page := core.PageOf(found, asked.limit, asked.filter, func(m Message) core.After { return core.After{At: m.SentAt, ID: m.ID} })
	records, err := m.recordsOf(ctx, c, page.Items)
	if err != nil {
		return core.Page[Record]{}, err
	}
	if err := m.nameChannels(ctx, c, records); err != nil {
		return core.Page[Record]{}, err
	}
	return core.Page[Record]{Items: records, Next: page.Next}, nil
}
