package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/audience"
	"github.com/mailhelm/mailhelm/core/sending"
)

var (
	queuePushes = register("queue contact pushes", `
		INSERT INTO contact_pushes (org_id, contact_id, queued_at, attempts, next_at, said)
		SELECT $1, v ->> 'contact', CAST($2 AS bigint), 0, CAST($2 AS bigint), v ->> 'said'
		FROM `+parameterRows(`$3`)+` WHERE TRUE
		ON CONFLICT (org_id, contact_id) DO UPDATE SET queued_at = excluded.queued_at, attempts = 0,
			next_at = excluded.next_at, said = excluded.said`)
	claimPushes = register("claim contact pushes", `
		UPDATE contact_pushes SET next_at = CAST($1 AS bigint), attempts = attempts + 1
		WHERE org_id = $2 AND contact_id IN (
			SELECT contact_id FROM contact_pushes WHERE org_id = $2 AND next_at <= $3
			ORDER BY next_at, contact_id LIMIT $4 /*pg FOR UPDATE SKIP LOCKED*/)
		RETURNING contact_id`)
	claimedPushes = register("claimed contact pushes", `
		SELECT c.id, c.email, c.external_id, c.status, c.attributes, c.topic_preferences, c.unsubscribe_all, c.shell,
			c.created_at, c.updated_at, p.said, p.queued_at, p.attempts
		FROM contact_pushes AS p JOIN contacts AS c ON c.org_id = p.org_id AND c.id = p.contact_id
		WHERE p.org_id = $1 AND p.contact_id IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)
		ORDER BY c.id`)
	// The consent comes to the contact as it was read: one that somebody wrote since
	// keeps what it has, and its push stays.
	mirrorPushed = register("mirror pushed consent", `
		UPDATE contacts SET topic_preferences = v ->> 'preferences', unsubscribe_all = CAST(v ->> 'unsubscribed' AS boolean),
			updated_at = CAST($1 AS bigint)
		FROM `+parameterRows(`$2`)+`
		WHERE contacts.org_id = $3 AND contacts.id = v ->> 'contact' AND contacts.updated_at = CAST(v ->> 'updated' AS bigint)
		AND EXISTS (SELECT 1 FROM contact_pushes AS p
			WHERE p.org_id = contacts.org_id AND p.contact_id = contacts.id AND p.next_at = CAST($4 AS bigint))
		RETURNING contacts.id`)
	deletePushes = register("delete contact pushes", `
		DELETE FROM contact_pushes WHERE org_id = $1 AND next_at = $2
		AND contact_id IN (SELECT j.atom FROM json_each(CAST($3 AS text)) AS j)`)
	putOffPushes = register("put off contact pushes", `
		UPDATE contact_pushes SET next_at = CAST($1 AS bigint) WHERE org_id = $2 AND next_at = $3
		AND contact_id IN (SELECT j.atom FROM json_each(CAST($4 AS text)) AS j)`)
	pendingPush = registerPoint("pending contact push", `SELECT said FROM contact_pushes WHERE org_id = $1 AND contact_id = $2`)
	countPushes = register("count contact pushes", `SELECT count(*) FROM contact_pushes WHERE org_id = $1`)
)

type queuedPush struct {
	Contact string `json:"contact"`
	Said    string `json:"said"`
}

func (s audienceStore) queuePushes(ctx context.Context, orgID string, pushes map[string]audience.Said, at time.Time) error {
	if len(pushes) == 0 {
		return nil
	}
	rows := make([]queuedPush, 0, len(pushes))
	for _, contact := range slices.Sorted(maps.Keys(pushes)) {
		said, err := json.Marshal(pushes[contact])
		if err != nil {
			return fmt.Errorf("storage: what was said of a contact: %w", err)
		}
		rows = append(rows, queuedPush{contact, string(said)})
	}
	parameter, err := jsonParameter(rows)
	if err != nil {
		return err
	}
	_, err = s.db.exec(ctx, queuePushes, orgID, At(at), parameter)
	return err
}

type pushRow struct {
	namedRow
	QueuedAt Time `db:"queued_at"`
	Attempts int  `db:"attempts"`
}

func (s audienceStore) ClaimPushes(ctx context.Context, orgID string, due, until time.Time, limit int) ([]audience.Push, error) {
	var rows []pushRow
	err := s.db.InTx(ctx, func(ctx context.Context) error {
		rows = nil
		claimed, err := values[string](ctx, s.db, claimPushes, At(until), orgID, At(due), limit)
		if err != nil || len(claimed) == 0 {
			return err
		}
		parameter, err := jsonParameter(claimed)
		if err != nil {
			return err
		}
		rows, err = list[pushRow](ctx, s.db, claimedPushes, orgID, parameter)
		return err
	})
	if err != nil {
		return nil, err
	}
	pushes := make([]audience.Push, len(rows))
	for i, row := range rows {
		named, err := row.named()
		if err != nil {
			return nil, err
		}
		pushes[i] = audience.Push{Contact: named.Contact, Said: *named.Pending, QueuedAt: row.QueuedAt.Time(), Attempts: row.Attempts}
	}
	return pushes, nil
}

// pushedConsent is an element of the parameter of mirrorPushed.
type pushedConsent struct {
	Contact      string `json:"contact"`
	Updated      Time   `json:"updated"`
	Preferences  string `json:"preferences"`
	Unsubscribed bool   `json:"unsubscribed"`
}

func (s audienceStore) SettlePushes(ctx context.Context, orgID string, until, at time.Time, settled []audience.Push) (int, error) {
	rows := make([]pushedConsent, len(settled))
	byID := make(map[string]map[string]sending.Subscription, len(settled))
	for i, p := range settled {
		choices := preferenceMap(p.Contact.TopicPreferences)
		preferences, err := encodePreferences(choices)
		if err != nil {
			return 0, err
		}
		rows[i] = pushedConsent{p.Contact.ID, At(p.Contact.UpdatedAt), preferences, p.Contact.UnsubscribeAll}
		byID[p.Contact.ID] = choices
	}
	parameter, err := jsonParameter(rows)
	if err != nil {
		return 0, err
	}
	var done []string
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		if done, err = values[string](ctx, s.db, mirrorPushed, At(at), parameter, orgID, At(until)); err != nil || len(done) == 0 {
			return err
		}
		var topics []contactTopic
		for _, id := range done {
			topics = topicsOf(topics, id, byID[id])
		}
		if err := s.replaceTopics(ctx, orgID, done, topics); err != nil {
			return err
		}
		ids, err := jsonParameter(done)
		if err != nil {
			return err
		}
		_, err = s.db.exec(ctx, deletePushes, orgID, At(until), ids)
		return err
	})
	return len(done), err
}

func (s audienceStore) PutOffPushes(ctx context.Context, orgID string, until, next time.Time, contactIDs []string) error {
	if len(contactIDs) == 0 {
		return nil
	}
	ids, err := jsonParameter(contactIDs)
	if err != nil {
		return err
	}
	_, err = s.db.exec(ctx, putOffPushes, At(next), orgID, At(until), ids)
	return err
}

func (s audienceStore) PendingPush(ctx context.Context, orgID, contactID string) (*audience.Said, error) {
	found, err := values[string](ctx, s.db, pendingPush, orgID, contactID)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	said, err := decodeSaid(found[0])
	return &said, err
}

func (s audienceStore) CountPushes(ctx context.Context, orgID string) (int, error) {
	counts, err := values[int](ctx, s.db, countPushes, orgID)
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}
