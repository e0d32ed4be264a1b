package inboxes

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var (
	endedInboxes = engine.Register("inboxes to purge", `
		SELECT org_id, id FROM inboxes WHERE purged_at IS NULL AND ends_at <= $1 ORDER BY ends_at, id LIMIT $2`)
	markPurged = engine.Register("mark inbox purged", `
		UPDATE inboxes SET purged_at = $1 WHERE org_id = $2 AND id = $3`)
	messagesLeft = engine.Register("messages left in inbox", `
		SELECT seq FROM inbox_messages WHERE org_id = $1 AND inbox_id = $2 LIMIT 1`)
	inboxesToForget = engine.Register("inboxes to forget", `
		SELECT org_id, id FROM inboxes WHERE purged_at IS NOT NULL AND ends_at < $1 ORDER BY ends_at, id LIMIT $2`)
	deleteTokens = engine.Register("delete inbox tokens", `
		DELETE FROM inbox_tokens WHERE org_id = $1 AND inbox_id = $2`)
	forgetInbox = engine.Register("forget inbox", `
		DELETE FROM inboxes WHERE org_id = $1 AND id = $2`)
)

func (s Store) Ended(ctx context.Context, now time.Time, limit int) ([]inboxes.Target, error) {
	return engine.ListAs(ctx, s.db, targetRow.target, endedInboxes, engine.At(now), limit)
}

func (s Store) MarkPurged(ctx context.Context, t inboxes.Target, now time.Time) (purged bool, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		purged = false // the transaction may run again
		// The lock waits for a delivery that is not committed. The next statement sees its message.
		if _, err := s.Inbox(ctx, t.OrgID, t.InboxID); err != nil {
			return err
		}
		left, err := engine.Values[int](ctx, s.db, messagesLeft, t.OrgID, t.InboxID)
		if err != nil || len(left) > 0 {
			return err
		}
		purged = true
		_, err = s.db.Exec(ctx, markPurged, engine.At(now), t.OrgID, t.InboxID)
		return err
	})
	return purged && err == nil, err
}

func (s Store) Forget(ctx context.Context, before time.Time, limit int) (int, error) {
	old, err := engine.ListAs(ctx, s.db, targetRow.target, inboxesToForget, engine.At(before), limit)
	if err != nil {
		return 0, err
	}
	for n, t := range old {
		err := s.db.InTx(ctx, func(ctx context.Context) error {
			if _, err := s.db.Exec(ctx, deleteTokens, t.OrgID, t.InboxID); err != nil {
				return err
			}
			_, err := s.db.Exec(ctx, forgetInbox, t.OrgID, t.InboxID)
			return err
		})
		if err != nil {
			return n, err
		}
	}
	return len(old), nil
}
