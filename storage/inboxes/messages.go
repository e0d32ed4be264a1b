package inboxes

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var (
	// messagesOfInbox reads messages until their JSON has $5 bytes, and at least one.
	messagesOfInbox = engine.Register("messages of inbox", `
		SELECT seq, recipients, message, extracted FROM (
			SELECT seq, recipients, message, extracted, sum(bytes) OVER (ORDER BY seq) - bytes AS before FROM (
				SELECT seq, recipients, message, extracted, bytes FROM inbox_messages
				WHERE org_id = $1 AND inbox_id = $2 AND seq > $3 ORDER BY seq LIMIT $4) AS page) AS sized
		WHERE before < $5 ORDER BY seq`)
	knownMessages = engine.Register("known messages of inboxes", `
		SELECT message_id, message FROM inbox_messages WHERE org_id = $1 AND message_id IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)`)
	removeMessages = engine.Register("remove messages of inbox", `
		DELETE FROM inbox_messages WHERE org_id = $1 AND inbox_id = $2 AND seq <= $3`)
)

// messageRow is a row of inbox_messages.
type messageRow struct {
	Seq        int    `db:"seq"`
	Recipients string `db:"recipients"`
	Message    string `db:"message"`
	Extracted  string `db:"extracted"`
}

func (r messageRow) stored() (inboxes.Stored, error) {
	s := inboxes.Stored{Seq: r.Seq}
	var err error
	if s.Recipients, err = engine.DecodeTexts(r.Recipients); err != nil {
		return s, err
	}
	if err = json.Unmarshal([]byte(r.Message), &s.Message); err != nil {
		return s, fmt.Errorf("storage: message of inbox: %w", err)
	}
	if err = json.Unmarshal([]byte(r.Extracted), &s.Extracted); err != nil {
		return s, fmt.Errorf("storage: extracted texts: %w", err)
	}
	return s, nil
}

func (s Store) Received(ctx context.Context, orgID, inboxID string, after, limit, maxBytes int) ([]inboxes.Stored, error) {
	return engine.ListParsed(ctx, s.db, messageRow.stored, messagesOfInbox, orgID, inboxID, after, limit, maxBytes)
}

func (s Store) RemoveReceived(ctx context.Context, orgID, inboxID string, upTo int) error {
	_, err := s.db.Exec(ctx, removeMessages, orgID, inboxID, upTo)
	return err
}

// Held returns which objects the messages of inboxes need, also of ended ones whose messages are not
// purged yet.
func (s Store) Held(ctx context.Context, orgID string, messageIDs []string) ([]inbound.Holding, error) {
	parameter, err := engine.JSONParameter(messageIDs)
	if err != nil {
		return nil, err
	}
	type row struct {
		ID      string `db:"message_id"`
		Message string `db:"message"`
	}
	return engine.ListParsed(ctx, s.db, func(r row) (inbound.Holding, error) { return inbound.HoldingOf(r.ID, r.Message) }, knownMessages, orgID, parameter)
}
