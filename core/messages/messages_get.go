package messages

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// GetMessageIn names a message.
type GetMessageIn struct {
	ID string `json:"id" jsonschema:"minLength=1,maxLength=256" jsonschema_description:"The provider's id of the message."`
}

func (m *Messages) messagesGet() core.Operation {
	return core.Declare(core.Op[GetMessageIn, Record]{
		Name:    "messages_get",
		Title:   "Read a message",
		Purpose: "Reads one message by the provider's id, if it was sent within 365 days, in every plan. The recipient is masked without `api.messages.unmask_recipients`.",
		Example: `{"id": "0107019a4c1f2d33-6b1f0c52-7f5e-4f7e-9d4b-2f8a3c1e5d60-000000"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.MessagesView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in GetMessageIn) (Record, error) {
			found, err := m.find(ctx, c, in.ID)
			if err != nil {
				return Record{}, err
			}
			records, err := m.recordsOf(ctx, c, []Message{found})
			if err != nil {
				return Record{}, err
			}
			return records[0], m.nameChannels(ctx, c, records)
		},
	})
}
