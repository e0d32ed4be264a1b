package broadcasts

import (
	"context"

	"github.com/mailhelm/mailhelm/core/composition"
	"github.com/mailhelm/mailhelm/core/sending"
)

// TestMessages returns a function that makes the test message of a broadcast to an address.
// sample has values that replace those of the broadcast. It fails with core.CodeNotFound for
// an unknown broadcast, and with core.CodeValidationFailed if it cannot be sent.
func (b *renderer) TestMessages(ctx context.Context, orgID, id string, sample map[string]any) (func(context.Context, string) (sending.Message, error), error) {
	found, err := b.Store.Broadcast(ctx, orgID, id)
	if err != nil {
		return nil, err
	}
	content, err := b.content(ctx, orgID, found)
	if err != nil {
		return nil, err
	}
	if content.From == "" {
		return nil, noSender()
	}
	content.Data = overlay(content.Data, sample)
	mail, err := content.Compile()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, address string) (sending.Message, error) {
		to, err := b.testRecipient(ctx, orgID, found, address)
		if err != nil {
			return sending.Message{}, err
		}
		return mail.Message(to)
	}, nil
}

// testRecipient returns the data of the contact with the address, or the address alone.
func (b *renderer) testRecipient(ctx context.Context, orgID string, of Broadcast, address string) (composition.Recipient, error) {
	m, known, err := b.Audience.MemberByEmail(ctx, orgID, address)
	if err != nil {
		return composition.Recipient{}, err
	}
	if !known {
		m.Attributes = []byte("{}")
	}
	m.Email = address
	return b.testRecipientOf(orgID, of, m)
}
