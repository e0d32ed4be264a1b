package inboxes

import (
	"context"
	"encoding/json"
	"fmt"

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
		SELECT message_id FROM inbox_messages WHERE org_id = $1 AND message_id IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)`)
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

// Known returns those of the ids that are ids of messages of inboxes, also of ended ones whose
// messages are not purged yet.
func (s Store) Known(ctx context.Context, orgID string, ids []string) ([]string, error) {
	parameter, err := engine.JSONParameter(ids)
	if err != nil {
		return nil, err
	}
	return engine.Values[string](ctx, s.db, knownMessages, orgID, parameter)
}
