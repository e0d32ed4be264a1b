package activities

import (
	"context"
	"encoding/json"
	"time"
)

// Observed is an activity of a known contact that a website reported.
type Observed struct {
	ContactID, Name string
	// Key is an idempotency key, "" for none.
	Key string
	// At is the time of receipt.
	At         time.Time
	Properties json.RawMessage // an object
}

// RecordObserved stores activities with the source "site" and returns how many of them were
// duplicates by their keys. It takes part in the transaction of ctx, and counts nothing against
// the organization's limit. The contacts must belong to the organization.
func (a *Activities) RecordObserved(ctx context.Context, orgID string, all []Observed) (int, error) {
	items := make([]sent, len(all))
	for i, o := range all {
		items[i] = sent{name: o.Name, key: o.Key, contactID: o.ContactID, properties: o.Properties, occurredAt: o.At, receivedAt: o.At}
	}
	if err := a.dedup(ctx, orgID, items, a.Clock()); err != nil {
		return 0, err
	}
	duplicates := 0
	for i := range items {
		if items[i].duplicate {
			duplicates++
		}
	}
	return duplicates, a.insert(ctx, orgID, items, FromSite)
}
