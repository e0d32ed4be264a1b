package parity

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/messages"
)

const recipient = "parity@example.com"

// recordMessages stores a message that was sent and bounced for each of the two
// organizations. Both messages have the same id, which is allowed because ids are unique
// only within an organization.
func recordMessages(t *testing.T, p *product.Product) {
	t.Helper()
	for _, org := range []string{p.OrgID, p.Other.OrgID} {
		sent := messages.Event{ID: org + "1", MessageID: "parity", Type: messages.Send, OccurredAt: p.Clock.Now().Add(-time.Hour), Recipient: recipient}
		sent.Mail = messages.Mail{
			From: "shop@example.com", To: []string{recipient}, SentAt: sent.OccurredAt,
			Subject: "For " + recipient, Template: "welcome", Channel: "marketing",
		}
		bounce := sent
		bounce.ID, bounce.Type, bounce.OccurredAt = org+"2", messages.Bounce, p.Clock.Now().Add(-time.Minute)
		bounce.Bounced = &messages.BounceKind{Type: messages.PermanentBounce, SubType: "NoEmail"}
		bounce.Metadata = json.RawMessage(`{"bounce_type":"Permanent","bounce_sub_type":"NoEmail","smtp_response":"550 5.1.1 <` + recipient + `> unknown"}`)
		if _, err := p.DB.Messages().RecordEvents(t.Context(), org, []messages.Event{sent, bounce}, p.Clock.Now()); err != nil {
			t.Fatal(err)
		}
	}
}

func messageOf(tool, route map[string]any) (map[string]any, map[string]any) {
	return tool["message"].(map[string]any), route
}

// eventsOf returns a message's events from the result of the tool messages_diagnose and
// from the result of GET /v1/messages/{id}/events. It removes the members id and recipient,
// which only the tool returns.
func eventsOf(tool, route map[string]any) (map[string]any, map[string]any) {
	events := tool["events"].([]any)
	for _, e := range events {
		delete(e.(map[string]any), "id")
		delete(e.(map[string]any), "recipient")
	}
	return map[string]any{"events": events}, map[string]any{"events": route["data"]}
}
