package receiving

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// DeliveryStore stores the contents and the deliveries of received mail.
type DeliveryStore struct {
	db  *engine.DB
	log LogStore
}

var (
	_ receiving.DeliveryStore = DeliveryStore{}
	_ receiving.Queue         = DeliveryStore{}
)

// NewDeliveries returns the store of contents and deliveries on the database.
func NewDeliveries(db *engine.DB) DeliveryStore { return DeliveryStore{db, NewLog(db)} }

var (
	// publishedDocument reads also whether the webhook was removed since, whose deliveries would
	// wait for nothing.
	publishedDocument = engine.RegisterPoint("published document of receiving domain", `
		SELECT r.document, d.webhook_url <> '' AS has_webhook FROM receiving_routes AS r
		JOIN receiving_domains AS d ON d.org_id = r.org_id AND d.id = r.domain_id
		WHERE r.org_id = $1 AND r.domain_id = $2 AND d.deleted_at IS NULL`)
	publishedEntities = engine.RegisterPoint("published addresses by local part", `
		SELECT local_part, metadata FROM receiving_addresses
		WHERE org_id = $1 AND domain_id = $2 AND published AND local_part IN (SELECT j.atom FROM json_each(CAST($3 AS text)) AS j)`)
	insertMessages = engine.Register("insert received messages", `
		INSERT INTO receiving_messages (org_id, id, domain_id, domain, message_id, sender, sender_key, recipients, recipient_keys, subject, verdicts,
			outcome, test, size, received_at, updated_at)
		SELECT $1, v ->> 'id', v ->> 'domain_id', v ->> 'domain', v ->> 'message', v ->> 'sender', v ->> 'sender_key', v ->> 'recipients', v ->> 'recipient_keys',
			v ->> 'subject', v ->> 'verdicts', v ->> 'outcome', v ->> 'test' = 'yes', CAST(v ->> 'size' AS bigint), CAST(v ->> 'received' AS bigint),
			CAST(v ->> 'updated' AS bigint)
		FROM `+engine.ParameterRows(`$2`)+` WHERE TRUE
		ON CONFLICT DO NOTHING RETURNING id`)
	insertContent = engine.Register("insert content of received message", `
		INSERT INTO receiving_contents (org_id, message_id, content, expires_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`)
	insertDeliveries = engine.Register("insert deliveries of received messages", `
		INSERT INTO receiving_deliveries (org_id, domain_id, id, message_id, recipients, entities, attempts, tries, due_at)
		SELECT $1, v ->> 'domain_id', v ->> 'id', v ->> 'message', v ->> 'recipients', v ->> 'entities', 0, 0, CAST(v ->> 'due' AS bigint)
		FROM `+engine.ParameterRows(`$2`)+` WHERE TRUE
		ON CONFLICT DO NOTHING`)
	contentOfMessage = engine.RegisterPoint("content of received message", `
		SELECT content FROM receiving_contents WHERE org_id = $1 AND message_id = $2`)
	lockMessage = engine.Register("lock received message", `
		SELECT `+messageColumns+` FROM receiving_messages WHERE org_id = $1 AND id = $2 /*pg FOR UPDATE*/`)
	resendableMessages = engine.Register("resendable received messages", `
		SELECT `+messageColumns+` FROM receiving_messages AS m
		WHERE org_id = $1 AND domain_id = $2 AND (received_at, id) > ($3, $4) AND received_at < $5 AND NOT test
			AND EXISTS (SELECT 1 FROM receiving_contents AS c WHERE c.org_id = m.org_id AND c.message_id = m.message_id)
		ORDER BY received_at, id LIMIT $6`)
	requeueDelivery = engine.Register("requeue delivery of received message", `
		UPDATE receiving_deliveries SET attempts = attempts + 1, tries = 0, due_at = $1 WHERE org_id = $2 AND domain_id = $3 AND id = $4`)
	expiredContents = engine.Register("expired contents of received messages", `
		SELECT content FROM receiving_contents WHERE org_id = $1 AND expires_at <= $2 ORDER BY expires_at, message_id LIMIT $3`)
	knownContents = engine.Register("known contents of received messages", `
		SELECT message_id, content FROM receiving_contents WHERE org_id = $1 AND message_id IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)`)
	deleteContents = engine.Register("delete contents of received messages", `
		DELETE FROM receiving_contents WHERE org_id = $1 AND message_id IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)`)
	oldMessages = engine.Register("old received messages", `
		SELECT id, domain_id FROM receiving_messages WHERE org_id = $1 AND received_at < $2 ORDER BY received_at, id LIMIT $3`)
	deleteStates = engine.Register("delete states of received messages", `
		DELETE FROM receiving_states WHERE org_id = $1 AND message IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)`)
	deleteMessages = engine.Register("delete received messages", `
		DELETE FROM receiving_messages WHERE org_id = $1 AND id IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)`)
	deleteDeliveries = engine.Register("delete deliveries of received messages", `
		DELETE FROM receiving_deliveries WHERE org_id = $1 AND domain_id = $2 AND id IN (SELECT j.atom FROM json_each(CAST($3 AS text)) AS j)`)
)

func (s DeliveryStore) Published(ctx context.Context, t receiving.Target) (receiving.Document, bool, error) {
	type row struct {
		Document   string `db:"document"`
		HasWebhook bool   `db:"has_webhook"`
	}
	found, err := engine.List[row](ctx, s.db, publishedDocument, t.OrgID, t.DomainID)
	if err != nil || len(found) == 0 {
		return receiving.Document{}, false, err
	}
	var d receiving.Document
	if err := json.Unmarshal([]byte(found[0].Document), &d); err != nil {
		return receiving.Document{}, false, fmt.Errorf("storage: routing: %w", err)
	}
	d.Routed = d.Routed && found[0].HasWebhook
	return d, true, nil
}

func (s DeliveryStore) Entities(ctx context.Context, t receiving.Target, locals []string) (map[string]json.RawMessage, error) {
	// PostgreSQL has no NUL in texts, so no address has one.
	clean := slices.DeleteFunc(slices.Clone(locals), func(l string) bool { return slices.Contains([]byte(l), 0) })
	parameter, err := engine.EncodeTexts(clean)
	if err != nil {
		return nil, err
	}
	type row struct {
		LocalPart string `db:"local_part"`
		Metadata  string `db:"metadata"`
	}
	rows, err := engine.List[row](ctx, s.db, publishedEntities, t.OrgID, t.DomainID, parameter)
	entities := map[string]json.RawMessage{}
	for _, r := range rows {
		entities[r.LocalPart] = json.RawMessage(r.Metadata)
	}
	return entities, err
}

// stateRows returns states as rows of a parameter.
func stateRows(message string, states []receiving.State) []stateRow {
	rows := make([]stateRow, len(states))
	for i, state := range states {
		rows[i] = stateRow{Message: message, ID: core.NewID(), Outcome: state.State, At: engine.At(state.OccurredAt), Detail: state.Detail}
		if state.HTTPStatus != nil {
			rows[i].Status = *state.HTTPStatus
		}
	}
	return rows
}

// parseContent returns the message in a stored content.
func parseContent(stored string) (inbound.Message, error) {
	var m inbound.Message
	if err := json.Unmarshal([]byte(stored), &m); err != nil {
		return m, fmt.Errorf("storage: content of received message: %w", err)
	}
	return m, nil
}

func (s DeliveryStore) Content(ctx context.Context, orgID, messageID string) (inbound.Message, error) {
	found, err := engine.Values[string](ctx, s.db, contentOfMessage, orgID, messageID)
	if err != nil {
		return inbound.Message{}, err
	}
	if len(found) == 0 {
		return inbound.Message{}, core.NotFound("message")
	}
	return parseContent(found[0])
}

func (s DeliveryStore) Message(ctx context.Context, orgID, id string) (receiving.Message, error) {
	found, err := engine.ListParsed(ctx, s.db, messageRow.message, s.db.LockedInside(ctx, messageByID, lockMessage), orgID, id)
	if err == nil && len(found) == 0 {
		err = core.NotFound("message")
	}
	return first(found), err
}

func (s DeliveryStore) Resendable(ctx context.Context, t receiving.Target, from, to time.Time, after *receiving.Message, limit int) ([]receiving.Message, error) {
	at, id := engine.At(from), ""
	if after != nil {
		at, id = engine.At(after.ReceivedAt), after.ID
	}
	return engine.ListParsed(ctx, s.db, messageRow.message, resendableMessages, t.OrgID, t.DomainID, at, id, engine.At(to), limit)
}

func (s DeliveryStore) Requeue(ctx context.Context, orgID string, m receiving.Message, wanted *receiving.Wanted, state receiving.State) error {
	return s.db.InTx(ctx, func(ctx context.Context) error {
		if wanted != nil {
			row, err := newDelivery(m, *wanted, state.OccurredAt)
			if err != nil {
				return err
			}
			if err := engine.ExecRows(ctx, s.db, insertDeliveries, orgID, []deliveryRow{row}); err != nil {
				return err
			}
		}
		if err := s.db.Change(ctx, "delivery", requeueDelivery, engine.At(state.OccurredAt), orgID, m.DomainID, m.ID); err != nil {
			return err
		}
		return s.log.setOutcomes(ctx, orgID, stateRows(m.ID, []receiving.State{state}))
	})
}

func (s DeliveryStore) ExpiredContents(ctx context.Context, orgID string, now time.Time, limit int) ([]inbound.Message, error) {
	stored, err := engine.Values[string](ctx, s.db, expiredContents, orgID, engine.At(now), limit)
	if err != nil {
		return nil, err
	}
	all := make([]inbound.Message, len(stored))
	for i, content := range stored {
		if all[i], err = parseContent(content); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Held returns which objects the messages with a content need.
func (s DeliveryStore) Held(ctx context.Context, orgID string, messageIDs []string) ([]inbound.Holding, error) {
	parameter, err := engine.JSONParameter(messageIDs)
	if err != nil {
		return nil, err
	}
	type row struct {
		ID      string `db:"message_id"`
		Content string `db:"content"`
	}
	return engine.ListParsed(ctx, s.db, func(r row) (inbound.Holding, error) { return inbound.HoldingOf(r.ID, r.Content) }, knownContents, orgID, parameter)
}

func (s DeliveryStore) DeleteContents(ctx context.Context, orgID string, messageIDs []string) error {
	return engine.ExecRows(ctx, s.db, deleteContents, orgID, messageIDs)
}

func (s DeliveryStore) DeleteMessages(ctx context.Context, orgID string, before time.Time, limit int) (int, error) {
	type row struct {
		ID       string `db:"id"`
		DomainID string `db:"domain_id"`
	}
	deleted := 0
	err := s.db.InTx(ctx, func(ctx context.Context) error {
		old, err := engine.List[row](ctx, s.db, oldMessages, orgID, engine.At(before), limit)
		if err != nil || len(old) == 0 {
			deleted = 0
			return err
		}
		byDomain, ids := map[string][]string{}, make([]string, len(old))
		for i, r := range old {
			ids[i] = r.ID
			byDomain[r.DomainID] = append(byDomain[r.DomainID], r.ID)
		}
		for domain, some := range byDomain {
			parameter, err := engine.JSONParameter(some)
			if err != nil {
				return err
			}
			if _, err := s.db.Exec(ctx, deleteDeliveries, orgID, domain, parameter); err != nil {
				return err
			}
		}
		if err := engine.ExecRows(ctx, s.db, deleteStates, orgID, ids); err != nil {
			return err
		}
		deleted = len(old)
		return engine.ExecRows(ctx, s.db, deleteMessages, orgID, ids)
	})
	return deleted, err
}
