package activities

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/invopop/jsonschema"
	"github.com/mailhelm/mailhelm/core"
)

// maxItems is the maximum number of activities in a request.
const maxItems = 1000

// Items has the activities of a request as raw JSON. They are decoded one by one, so that
// an invalid item fails alone.
type Items []json.RawMessage

var itemMembers = []core.RowMember{
	{Name: "name", Description: "Text of 1 to 200 characters, such as order_placed. Required."},
	{Name: "email", Description: "Text: address of the contact. A new one creates a contact that gets no mail."},
	{Name: "external_id", Description: "Text of 1 to 255 characters, your own id of the contact. Without email, a contact must have it already."},
	{Name: "properties", Description: "Object such as {\"total\": 42.5}; any JSON up to 32 KiB. Default: {}."},
	{Name: "occurred_at", Description: "Text in RFC 3339, such as 2026-03-02T08:30:00Z. Default: now."},
	{Name: "idempotency_key", Description: "Text of 1 to 256 characters, such as order-1042. The same key within 24 hours is not recorded again."},
	{Name: "dedup_mode", Description: "Text. retry (default): a repeated idempotency_key is a duplicate. once: one activity of this name for each contact, without time limit."},
}

// JSONSchema returns the schema of the list of items, with the members of an item.
func (Items) JSONSchema() *jsonschema.Schema {
	return core.RowsSchema(1, maxItems, "One activity, with email, external_id or both. An invalid one fails alone.", itemMembers)
}

// item is an activity in the form in which callers send it. A nil field means that the
// caller did not send the member.
type item struct {
	Name           string
	Email          *string
	ExternalID     *string
	Properties     json.RawMessage
	OccurredAt     *time.Time
	IdempotencyKey *string
	DedupMode      *string
}

var itemPlaces = core.AnyPathsOf[struct {
	Properties json.RawMessage `json:"properties"`
}]()

// readItem decodes and checks one item of a request. index is the item's position in the
// request, and now is the time at which the request was received.
func readItem(raw json.RawMessage, index int, now time.Time, emailKey func(string) string) sent {
	var i item
	if err := core.ReadRow(raw, itemPlaces, i.take); err != nil {
		s := sent{index: index}
		s.refuse(err)
		return s
	}
	return i.read(index, now, emailKey)
}

// take decodes the value of one JSON member into the item. null has the same meaning as an
// absent member, except for the name, which must be a string.
func (i *item) take(name string, value []byte) error {
	switch name {
	case "name":
		var text *string
		if err := core.TakeText(name, value, &text); err != nil {
			return err
		}
		if text == nil {
			return core.Invalid(name, "is null; send a string")
		}
		i.Name = *text
		return nil
	case "email":
		return core.TakeText(name, value, &i.Email)
	case "external_id":
		return core.TakeText(name, value, &i.ExternalID)
	case "properties":
		i.Properties = bytes.Clone(value)
		return nil
	case "occurred_at":
		return i.takeTime(name, value)
	case "idempotency_key":
		return core.TakeText(name, value, &i.IdempotencyKey)
	case "dedup_mode":
		err := core.TakeText(name, value, &i.DedupMode)
		if i.DedupMode != nil {
			*i.DedupMode = core.CanonicalWord(*i.DedupMode, Retry, Once)
		}
		return err
	}
	return core.UnknownMember(name, itemMembers)
}

func (i *item) takeTime(name string, value []byte) error {
	const wanted = "send a date-time in RFC 3339, such as 2026-03-02T08:00:00Z"
	var text *string
	if err := core.TakeText(name, value, &text); err != nil {
		return core.Invalid(name, "must be a string; "+wanted)
	}
	if text == nil {
		return nil
	}
	var at time.Time
	if at.UnmarshalText([]byte(*text)) != nil {
		return core.Invalid(name, "is "+core.Quote(*text)+"; "+wanted)
	}
	i.OccurredAt = &at
	return nil
}
