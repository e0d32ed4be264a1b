package inboxes

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// addBytes is the size of the messages that are added by one statement, if there are more than one.
const addBytes = 4 << 20

var (
	// holdInboxes locks in the order of the sort.
	holdInboxes = engine.Register("hold inboxes", `
		SELECT i.org_id, i.id, i.allowed_senders, i.message_count, i.dropped_count, i.stored_bytes, i.created_at, i.expires_at, i.deleted_at
		FROM `+engine.CountedRows(`$1`, `$2`)+` CROSS JOIN inboxes AS i
		WHERE i.org_id = v ->> 'org' AND i.id = v ->> 'inbox' ORDER BY i.org_id, i.id /*pg FOR UPDATE OF i*/`)
	// messagesOfInboxes finds messages by their ids. On PostgreSQL the order of the LATERAL subquery
	// forces the use of the index by id: without statistics PostgreSQL would read all messages of the
	// inbox from the index by position.
	messagesOfInboxes = engine.Register("messages of inboxes by id", `
		SELECT m.org_id, m.inbox_id, m.message_id FROM `+engine.CountedRows(`$1`, `$2`)+`
		CROSS JOIN /*pg LATERAL (SELECT * FROM*/ inbox_messages /*pg AS named
			WHERE named.org_id = CAST(v ->> 'org' AS bytetext) AND named.inbox_id = CAST(v ->> 'inbox' AS bytetext)
				AND named.message_id >= CAST(v ->> 'message' AS bytetext) ORDER BY named.message_id LIMIT 1)*/ AS m
		WHERE m.org_id = v ->> 'org' AND m.inbox_id = v ->> 'inbox' AND m.message_id = v ->> 'message'`)
	addMessage = engine.Register("add message of inbox", `
		INSERT INTO inbox_messages (org_id, inbox_id, seq, message_id, recipients, message, extracted, bytes)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (org_id, inbox_id, message_id) DO NOTHING`)
	countMessages = engine.Register("count messages of inboxes", `
		UPDATE inboxes SET message_count = message_count + CAST(v ->> 'accepted' AS bigint), dropped_count = dropped_count + CAST(v ->> 'dropped' AS bigint),
			stored_bytes = stored_bytes + CAST(v ->> 'bytes' AS bigint)
		FROM `+engine.CountedRows(`$1`, `$2`)+` WHERE org_id = v ->> 'org' AND id = v ->> 'inbox'`)
)

// addMessages has the statements that add at most 4, 16 and 64 messages. Each message has
// parameters of its own: in a JSON parameter with many rows the long texts would be parsed several
// times.
var addMessages = [...]*engine.Statement{registerAdd(4), registerAdd(16), registerAdd(maxAdded)}

// maxAdded is the largest number of messages that one statement adds, addColumns the number of
// parameters of each.
const maxAdded, addColumns = 64, 8

// registerAdd registers the statement that adds at most n messages. Parameters of missing messages
// are NULL.
func registerAdd(n int) *engine.Statement {
	rows := make([]string, n)
	for i := range rows {
		parameters := make([]string, addColumns)
		for c := range parameters {
			parameters[c] = fmt.Sprintf("$%d", i*addColumns+c+1)
		}
		rows[i] = "(" + strings.Join(parameters, ", ") + ")"
	}
	return engine.Register(fmt.Sprintf("add %d messages of inboxes", n), `
		INSERT INTO inbox_messages (org_id, inbox_id, seq, message_id, recipients, message, extracted, bytes)
		SELECT column1, column2, CAST(column3 AS bigint), column4, column5, column6, column7, CAST(column8 AS bigint)
		FROM (VALUES `+strings.Join(rows, ", ")+`) AS v WHERE column1 IS NOT NULL
		ON CONFLICT (org_id, inbox_id, message_id) DO NOTHING RETURNING org_id, inbox_id, message_id`)
}

// inboxKey identifies an inbox in a parameter with many rows.
type inboxKey struct {
	OrgID   string `json:"org" db:"org_id"`
	InboxID string `json:"inbox" db:"inbox_id"`
}

func keyOf(t inboxes.Target) inboxKey { return inboxKey{t.OrgID, t.InboxID} }

func (s Store) HoldInboxes(ctx context.Context, all []inboxes.Target) ([]inboxes.Inbox, error) {
	rows := make([]inboxKey, len(all))
	for n, t := range all {
		rows[n] = keyOf(t)
	}
	parameter, err := engine.JSONParameter(rows)
	if err != nil {
		return nil, err
	}
	return engine.ListParsed(ctx, s.db, inboxRow.inbox, holdInboxes, parameter, len(rows))
}

// messageKey identifies a message of an inbox.
type messageKey struct {
	inboxKey
	MessageID string `json:"message" db:"message_id"`
}

func (k messageKey) reference() inboxes.Reference {
	return inboxes.Reference{Target: inboxes.Target{OrgID: k.OrgID, InboxID: k.InboxID}, MessageID: k.MessageID}
}

func (s Store) KnownReceived(ctx context.Context, all []inboxes.Reference) ([]inboxes.Reference, error) {
	rows := make([]messageKey, len(all))
	for n, ref := range all {
		rows[n] = messageKey{keyOf(ref.Target), ref.MessageID}
	}
	parameter, err := engine.JSONParameter(rows)
	if err != nil {
		return nil, err
	}
	return engine.ListAs(ctx, s.db, messageKey.reference, messagesOfInboxes, parameter, len(rows))
}

// argumentsOf returns the parameters of a message, and its size.
func argumentsOf(a inboxes.Arrival) (args []any, size int, err error) {
	recipients, err := engine.EncodeTexts(a.Recipients)
	if err != nil {
		return nil, 0, err
	}
	message, err := json.Marshal(a.Message)
	if err != nil {
		return nil, 0, fmt.Errorf("storage: message of inbox: %w", err)
	}
	extracted, err := json.Marshal(a.Extracted)
	if err != nil {
		return nil, 0, fmt.Errorf("storage: extracted texts: %w", err)
	}
	return []any{a.OrgID, a.InboxID, a.Seq, a.Message.ID, recipients, string(message), string(extracted), len(message)}, len(message), nil
}

func (s Store) AddReceived(ctx context.Context, all []inboxes.Arrival) ([]bool, error) {
	limit := maxAdded
	if s.db.Dialect() == engine.SQLite {
		limit = 1 // without round trips, this takes less time
	}
	added := make([]bool, len(all))
	var args []any
	size, first := 0, 0
	for n, a := range all {
		one, bytes, err := argumentsOf(a)
		if err != nil {
			return nil, err
		}
		args, size = append(args, one...), size+bytes
		if n < len(all)-1 && n-first+1 < limit && size < addBytes {
			continue
		}
		if err := s.addMessages(ctx, args, all[first:n+1], added[first:]); err != nil {
			return nil, err
		}
		args, size, first = nil, 0, n+1
	}
	return added, nil
}

// addMessages adds at most maxAdded messages, and notes in added which of them the inboxes did not
// have.
func (s Store) addMessages(ctx context.Context, args []any, all []inboxes.Arrival, added []bool) error {
	if len(all) == 1 {
		n, err := s.db.Exec(ctx, addMessage, args...)
		added[0] = n == 1
		return err
	}
	statement, room := 0, 4
	for ; room < len(all); room *= 4 {
		statement++
	}
	args = append(args, make([]any, (room-len(all))*addColumns)...)
	stored, err := engine.List[messageKey](ctx, s.db, addMessages[statement], args...)
	if err != nil {
		return err
	}
	isNew := map[inboxes.Reference]bool{}
	for _, key := range stored {
		isNew[key.reference()] = true
	}
	for n, a := range all {
		ref := inboxes.Reference{Target: a.Target, MessageID: a.Message.ID}
		added[n] = isNew[ref]
		delete(isNew, ref)
	}
	return nil
}

// countRow has what is added to the counts of an inbox.
type countRow struct {
	inboxKey
	Accepted int   `json:"accepted"`
	Dropped  int   `json:"dropped"`
	Bytes    int64 `json:"bytes"`
}

func (s Store) CountReceived(ctx context.Context, all []inboxes.Count) error {
	rows := make([]countRow, len(all))
	for n, c := range all {
		rows[n] = countRow{keyOf(c.Target), c.Accepted, c.Dropped, c.Bytes}
	}
	parameter, err := engine.JSONParameter(rows)
	if err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, countMessages, parameter, len(rows))
	return err
}
