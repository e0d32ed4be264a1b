package messages

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/storage/engine"
)

// These statements delete rows from the oldest end of an index. Each step of a purge
// therefore costs the same in a table of any size. They select rows by time alone, so
// PostgreSQL reads only the oldest partitions of divided tables.
var (
	oldMessages = engine.Register("old messages", `
		SELECT id FROM messages WHERE org_id = $1 AND sent_at < $2 ORDER BY sent_at, id LIMIT $3`)
	purgeRecipients = engine.Register("purge message recipients", `
		DELETE FROM message_recipients WHERE org_id = $1 AND sent_at < $2
		AND message_id IN (SELECT j.atom FROM json_each(CAST($3 AS text)) AS j)`)
	purgeMessages = engine.Register("purge messages", `
		DELETE FROM messages WHERE org_id = $1 AND sent_at < $2
		AND id IN (SELECT j.atom FROM json_each(CAST($3 AS text)) AS j)`)
	purgeEvents = engine.Register("purge message events", `
		DELETE FROM message_events WHERE org_id = $1 AND occurred_at < $2 AND (occurred_at, id) IN (
			SELECT occurred_at, id FROM message_events WHERE org_id = $1 AND occurred_at < $2 ORDER BY occurred_at, id LIMIT $3)`)
)

// Purge deletes messages that were sent before the time in the parameter before, with their
// recipients. It also deletes events before that time. limit is the maximum number of
// messages, and of events, that one call deletes. It returns the number of deleted messages
// and events.
func (s Store) Purge(ctx context.Context, orgID string, before time.Time, limit int) (int, error) {
	purged := 0
	err := s.db.InTx(ctx, func(ctx context.Context) error {
		purged = 0
		ids, err := engine.Values[string](ctx, s.db, oldMessages, orgID, engine.At(before), limit)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			_, err = s.db.Exec(ctx, purgeKinds, orgID, spanOf(engine.At(before)))
			return err
		}
		parameter, err := engine.JSONParameter(ids)
		if err != nil {
			return err
		}
		// The messages come first: an event that is being recorded for one of them holds its row
		// and may add recipients, which are then visible to the second statement.
		if purged, err = s.db.Exec(ctx, purgeMessages, orgID, engine.At(before), parameter); err != nil {
			return err
		}
		_, err = s.db.Exec(ctx, purgeRecipients, orgID, engine.At(before), parameter)
		return err
	})
	if err != nil {
		return 0, err
	}
	events, err := s.db.Exec(ctx, purgeEvents, orgID, engine.At(before), limit)
	return purged + events, err
}
