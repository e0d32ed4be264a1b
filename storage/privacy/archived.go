package privacy

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var _ privacy.ArchivedStore = Store{}

var (
	// holdArchived changes nothing, and locks the row on both databases. So a write that activates the contact
	// waits, and then finds that there is none.
	holdArchived = engine.Register("hold archived contact", `
		UPDATE contacts SET status = status WHERE org_id = $1 AND id = $2 AND status = 'archived' AND updated_at < $3 RETURNING email_key`)
	// hideRecipient looks the contact up in each send, because recipients have no index by
	// contact: they are written too often for one.
	hideRecipient = engine.Register("hide erased contact among recipients", `
		UPDATE handover_recipients SET recipient = $1, email = $2, reason = '',
			tier = CASE WHEN state = 'pending' THEN 'account' ELSE tier END,
			state = CASE WHEN state = 'pending' THEN 'filtered' ELSE state END
		WHERE org_id = $3 AND recipient = $4 AND send_id IN (
			SELECT id FROM broadcasts WHERE org_id = $3 UNION ALL SELECT id FROM workflow_sends WHERE org_id = $3)`)
)

// HoldArchived implements [privacy.ArchivedStore].
func (s Store) HoldArchived(ctx context.Context, orgID, contactID string, before time.Time) (string, bool, error) {
	keys, err := engine.Values[string](ctx, s.db, holdArchived, orgID, contactID, engine.At(before))
	if err != nil || len(keys) == 0 {
		return "", false, err
	}
	return keys[0], true, nil
}

// HideRecipient implements [privacy.ArchivedStore].
func (s Store) HideRecipient(ctx context.Context, search privacy.Search) error {
	_, err := s.db.Exec(ctx, hideRecipient, search.As.ID, search.As.Email, search.OrgID, contactOf(search.Person))
	return err
}

// HandingOver implements [privacy.ArchivedStore].
func (s Store) HandingOver(ctx context.Context, search privacy.Search) (bool, error) {
	n, err := s.number(ctx, handingOver, search.OrgID, contactOf(search.Person), search.Person.Key)
	return n > 0, err
}
