package contacts

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var pendingPush = engine.RegisterPoint("pending contact push", `SELECT said FROM contact_pushes WHERE org_id = $1 AND contact_id = $2`)

// PendingPush returns the contact's consent that is queued for the sending account, or nil
// if none is queued.
func (s Store) PendingPush(ctx context.Context, orgID, contactID string) (*consent.Pending, error) {
	found, err := engine.Values[string](ctx, s.db, pendingPush, orgID, contactID)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	pending, err := DecodePendingConsent(found[0])
	return &pending, err
}

// DecodePendingConsent parses queued consent from the column said of contact_pushes,
// which is JSON.
func DecodePendingConsent(stored string) (consent.Pending, error) {
	var pending consent.Pending
	if err := json.Unmarshal([]byte(stored), &pending); err != nil {
		return pending, fmt.Errorf("storage: pending consent of a contact: %w", err)
	}
	return pending, nil
}
