package testsends

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// BroadcastMessages makes the test messages of broadcasts.
type BroadcastMessages interface {
	// TestMessages returns a function that makes the message to an address. sample has values
	// that replace those of the broadcast. It fails with core.CodeNotFound for an unknown
	// broadcast.
	TestMessages(ctx context.Context, orgID, broadcastID string, sample map[string]any) (func(context.Context, string) (sending.Message, error), error)
}

// Broadcasts has the operation that sends tests of broadcasts.
type Broadcasts struct {
	Sends    *Sends
	Messages BroadcastMessages
}

// Operations returns the operations on tests of broadcasts.
func (b *Broadcasts) Operations() []core.Operation {
	return []core.Operation{b.broadcastsTestSend()}
}

// TestBroadcastIn names a broadcast and the addresses that get a test.
type TestBroadcastIn struct {
	ID          string         `json:"id" only:"rest" jsonschema:"maxLength=64" jsonschema_description:"Id of the broadcast."`
	BroadcastID string         `json:"broadcast_id" only:"agent" jsonschema:"maxLength=64" jsonschema_description:"Id of the broadcast, from broadcasts_compose."`
	Recipients  []string       `json:"recipients" jsonschema:"minItems=1,maxItems=10" jsonschema_description:"Addresses that get the message, 1 to 10. Consent and suppression are not checked."`
	SampleData  map[string]any `json:"sample_data,omitempty" jsonschema:"maxProperties=200" jsonschema_description:"Values that replace those of the broadcast. Attributes of a contact with the address win."`

	// result has the outcomes of the messages. Prepare sets it.
	result Result
}

func (b *Broadcasts) broadcastsTestSend() core.Operation {
	return core.Declare(core.Op[TestBroadcastIn, Result]{
		Name:  "broadcasts_test_send",
		Title: "Send a test of a broadcast",
		Purpose: "Sends the message of a broadcast to 1 to 10 addresses, with [TEST] before the subject. " +
			"Use it before sending. Returns the outcome of each address. It does not change the broadcast, and 10 tests an hour are allowed.",
		Example:       `{"id": "0198c7a2-5d3e-7a01-8b00-2f61c0d4b101", "recipients": ["ada.almeida@example.com"]}`,
		AgentExample:  `{"broadcast_id": "0198c7a2-5d3e-7a01-8b00-2f61c0d4b101", "recipients": ["ada.almeida@example.com"]}`,
		Effect:        core.Writes,
		ReachesPeople: true,
		IgnoresKey:    true,
		Scopes:        []core.Scope{core.BroadcastsManage},
		Fails:         []core.Code{core.CodeNotFound, core.CodeRateLimited},
		Prepare:       b.prepareTest,
		Do: func(_ context.Context, c *core.Call, in TestBroadcastIn) (Result, error) {
			c.SetSubject(in.ID + in.BroadcastID)
			return in.result, nil
		},
	})
}

// prepareTest sends the messages, which calls the sending account.
func (b *Broadcasts) prepareTest(ctx context.Context, c *core.Call, in TestBroadcastIn) (TestBroadcastIn, error) {
	id := in.ID + in.BroadcastID
	addresses, err := Addresses(in.Recipients)
	if err != nil {
		return in, err
	}
	message, err := b.Messages.TestMessages(ctx, c.Principal.Org.ID, id, in.SampleData)
	if err != nil {
		return in, err
	}
	in.result, err = b.Sends.Send(ctx, c, Request{Kind: "broadcast", SubjectID: id, Addresses: addresses, Message: message})
	return in, err
}
