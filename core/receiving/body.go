package receiving

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/payload"
	"github.com/mailhelm/mailhelm/core/objects"
)

// Body is the JSON that a webhook gets.
type Body struct {
	payload.Payload
	// Domain is the receiving domain.
	Domain string `json:"domain"`
	// Entities maps the local parts of minted addresses among the recipients to their metadata.
	Entities map[string]json.RawMessage `json:"entities"`
	// Test is true for a delivery that a person caused to test the webhook.
	Test bool `json:"test,omitempty"`
}

// bodyOf returns the JSON of a delivery. The links in it work for 7 days, or until the objects
// are deleted.
func bodyOf(ctx context.Context, stores objects.Stores, e Endpoint, item Item, m inbound.Message, now time.Time) ([]byte, error) {
	until := now.Add(objects.MaxLinkLife)
	if end := m.ReceivedAt.Add(Kept); end.Before(until) {
		until = end
	}
	var store objects.Store
	link := func(key, filename, contentType string) (string, error) {
		if store == nil {
			var err error
			if store, err = stores.At(ctx, e.OrgID, m.StoreID); err != nil {
				return "", err
			}
		}
		return store.Link(ctx, key, objects.Link{Until: until, Filename: filename, ContentType: contentType})
	}
	shared, err := payload.Of(m, link)
	if err != nil {
		return nil, fmt.Errorf("links of message %s: %w", m.ID, err)
	}
	shared.Recipients = item.Recipients
	text, err := json.Marshal(Body{Payload: shared, Domain: e.Domain, Entities: entitiesOf(item.Wanted), Test: item.Test})
	if err != nil {
		return nil, fmt.Errorf("payload of message %s: %w", m.ID, err)
	}
	return text, nil
}
