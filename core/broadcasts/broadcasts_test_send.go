package broadcasts

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/composition"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/testsends"
)

// Tests makes test sends; see [testsends.Sends].
type Tests interface {
	Send(ctx context.Context, c *core.Call, r testsends.Request) (testsends.Result, error)
}

// TestBroadcastIn names a broadcast and the addresses that get a test.
type TestBroadcastIn struct {
	WithID
	Recipients []string       `json:"recipients" jsonschema:"minItems=1,maxItems=10" jsonschema_description:"1 to 10 addresses that get the message. Consent and suppression are not checked."`
	SampleData map[string]any `json:"sample_data,omitempty" jsonschema:"maxProperties=200" jsonschema_description:"Values that replace those of the broadcast. Attributes of a contact with the address win."`

	// result has what became of the messages. Prepare sets it.
	result testsends.Result
}

func (b *Broadcasts) broadcastsTestSend() core.Operation {
	return core.Declare(core.Op[TestBroadcastIn, testsends.Result]{
		Name:  "broadcasts_test_send",
		Title: "Send a test of a broadcast",
		Purpose: "Sends the message of a broadcast to 1 to 10 addresses, with [TEST] before the subject. " +
			"Use it before sending. Returns the outcome of each address. It does not change the broadcast, and 10 tests an hour are allowed.",
		Example:       `{"id": "` + exampleID + `", "recipients": ["ada.almeida@example.com"]}`,
		Effect:        core.Writes,
		ReachesPeople: true,
		IgnoresKey:    true,
		Scopes:        []core.Scope{core.BroadcastsManage},
		Fails:         []core.Code{core.CodeNotFound, core.CodeRateLimited},
		Prepare:       b.prepareTest,
		Do: func(_ context.Context, c *core.Call, in TestBroadcastIn) (testsends.Result, error) {
			c.SetSubject(in.id())
			return in.result, nil
		},
	})
}

// prepareTest sends the messages, which calls the sending account.
func (b *Broadcasts) prepareTest(ctx context.Context, c *core.Call, in TestBroadcastIn) (TestBroadcastIn, error) {
	org := c.Principal.Org.ID
	addresses, err := testsends.Addresses(in.Recipients)
	if err != nil {
		return in, err
	}
	found, err := b.Store.Broadcast(ctx, org, in.id())
	if err != nil {
		return in, err
	}
	mail, err := b.testMail(ctx, org, found, in.SampleData)
	if err != nil {
		return in, err
	}
	in.result, err = b.Tests.Send(ctx, c, testsends.Request{
		Kind: "broadcast", SubjectID: found.ID, Addresses: addresses,
		Message: func(ctx context.Context, address string) (sending.Message, error) {
			to, err := b.testRecipient(ctx, org, found, address)
			if err != nil {
				return sending.Message{}, err
			}
			return mail.Message(to)
		},
	})
	return in, err
}

// testMail compiles the content of a broadcast with sample data in the place of its own.
func (b *Broadcasts) testMail(ctx context.Context, orgID string, of Broadcast, sample map[string]any) (*composition.Mail, error) {
	content, err := b.content(ctx, orgID, of)
	if err != nil {
		return nil, err
	}
	if content.From == "" {
		return nil, noSender()
	}
	content.Data = overlay(content.Data, sample)
	return content.Compile()
}

// testRecipient returns the data of the contact with the address, or the address alone.
func (b *Broadcasts) testRecipient(ctx context.Context, orgID string, of Broadcast, address string) (composition.Recipient, error) {
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
