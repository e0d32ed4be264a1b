package bulk

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/sending"
	contactstore "github.com/mailhelm/mailhelm/storage/contacts"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// insertPushesText is the SQL that queues consent of contacts for the sending account
// ("pushes"). A worker may write the consent to the account at once.
var insertPushesText = `
		INSERT INTO contact_pushes (org_id, contact_id, queued_at, attempts, next_at, said)
		SELECT $1, v ->> 'contact', CAST($2 AS bigint), 0, CAST($2 AS bigint), v ->> 'said'
		FROM ` + engine.ParameterRows(`$3`) + ` WHERE TRUE`

var (
	// insertPushes has no ON CONFLICT clause, because a new contact has no queued consent.
	insertPushes = engine.Register("insert contact pushes", insertPushesText)
	// queuePushes replaces a contact's queued consent and resets its attempts, because the
	// account must get the latest consent.
	queuePushes = engine.Register("queue contact pushes", insertPushesText+`
		ON CONFLICT (org_id, contact_id) DO UPDATE SET queued_at = excluded.queued_at, attempts = 0,
			next_at = excluded.next_at, said = excluded.said`)
	// claimPushes claims due pushes (queued consent) through the index contact_pushes_due
	// and skips those that another worker has locked. It sets next_at to the end of the
	// claim. Later statements recognize the pushes of this claim by that time.
	claimPushes = engine.Register("claim contact pushes", `
		UPDATE contact_pushes SET next_at = CAST($1 AS bigint), attempts = attempts + 1
		WHERE org_id = $2 AND contact_id IN (
			SELECT contact_id FROM contact_pushes WHERE org_id = $2 AND next_at <= $3
			ORDER BY next_at, contact_id LIMIT $4 /*pg FOR UPDATE SKIP LOCKED*/)
		RETURNING contact_id, attempts`)
	// mirrorPushed stores the consent that the sending account has accepted. It skips a
	// contact that was written since its consent was read; the newer consent stays queued.
	mirrorPushed = engine.Register("mirror pushed consent", `
		UPDATE contacts SET topic_preferences = v ->> 'preferences', unsubscribe_all = CAST(v ->> 'unsubscribed' AS boolean),
			consent_changes = v ->> 'changes', updated_at = CAST($1 AS bigint)
		FROM `+engine.ParameterRows(`$2`)+`
		WHERE contacts.org_id = v ->> 'org' AND contacts.id = v ->> 'contact' AND contacts.updated_at = CAST(v ->> 'updated' AS bigint)
		AND EXISTS (SELECT 1 FROM contact_pushes AS p
			WHERE p.org_id = contacts.org_id AND p.contact_id = contacts.id AND p.next_at = CAST($3 AS bigint))
		RETURNING contacts.id`)
	// deletePushes deletes queued consent, but only if its next_at is the end of the
	// caller's claim. Consent that was queued again since the claim has another next_at.
	deletePushes = engine.Register("delete contact pushes", `
		DELETE FROM contact_pushes WHERE org_id = $1 AND next_at = $2
		AND contact_id IN (SELECT j.atom FROM json_each(CAST($3 AS text)) AS j)`)
	putOffPushes = engine.Register("put off contact pushes", `
		UPDATE contact_pushes SET next_at = CAST($1 AS bigint) WHERE org_id = $2 AND next_at = $3
		AND contact_id IN (SELECT j.atom FROM json_each(CAST($4 AS text)) AS j)`)
)

// queuedPush is an element of the JSON parameter of insertPushes and queuePushes. Consent
// is the consent of the contact, as JSON.
type queuedPush struct {
	Contact string `json:"contact"`
	Consent string `json:"said"`
}

// pushParameters holds queued consent as JSON parameters: insert for new contacts
// (insertPushes), queue for existing ones (queuePushes). "" means none.
type pushParameters struct{ insert, queue string }

// pushesOf returns the consent to queue for a bulk write, sorted by contact, so that
// concurrent transactions lock rows in the same order.
func pushesOf(w bulk.ContactsWrite) (pushParameters, error) {
	isNew := make(map[string]bool, len(w.Insert))
	for _, c := range w.Insert {
		isNew[c.ID] = true
	}
	var insert, queue []queuedPush
	for _, contact := range slices.Sorted(maps.Keys(w.Push)) {
		consent, err := json.Marshal(w.Push[contact])
		if err != nil {
			return pushParameters{}, fmt.Errorf("storage: pending consent of a contact: %w", err)
		}
		if row := (queuedPush{contact, string(consent)}); isNew[contact] {
			insert = append(insert, row)
		} else {
			queue = append(queue, row)
		}
	}
	var p pushParameters
	for to, rows := range map[*string][]queuedPush{&p.insert: insert, &p.queue: queue} {
		if len(rows) == 0 {
			continue
		}
		var err error
		if *to, err = engine.JSONParameter(rows); err != nil {
			return p, err
		}
	}
	return p, nil
}

// PushStore stores pushes. A push is the consent that was stored for a contact and that has
// not yet been written to the sending account.
type PushStore struct{ db *engine.DB }

var (
	_ bulk.PushStore     = PushStore{}
	_ contacts.PushQueue = PushStore{}
)

// NewPushStore returns the store of queued consent on the database.
func NewPushStore(db *engine.DB) PushStore { return PushStore{db} }

// writePushes queues the consent that a bulk write set. A job writes it to the sending
// account when it is due, at the time in the parameter at.
func writePushes(ctx context.Context, db *engine.DB, orgID string, p pushParameters, at time.Time) error {
	for _, part := range []struct {
		statement *engine.Statement
		rows      string
	}{{insertPushes, p.insert}, {queuePushes, p.queue}} {
		if part.rows == "" {
			continue
		}
		if _, err := db.Exec(ctx, part.statement, orgID, engine.At(at), part.rows); err != nil {
			return err
		}
	}
	return nil
}

// QueuePush queues the consent of one contact, in place of what is queued for it.
func (s PushStore) QueuePush(ctx context.Context, orgID, contactID string, pending consent.Pending, at time.Time) error {
	encoded, err := json.Marshal(pending)
	if err != nil {
		return fmt.Errorf("storage: pending consent of a contact: %w", err)
	}
	rows, err := engine.JSONParameter([]queuedPush{{contactID, string(encoded)}})
	if err != nil {
		return err
	}
	return writePushes(ctx, s.db, orgID, pushParameters{queue: rows}, at)
}

// claimedRow is a contact whose queued consent was claimed. Attempts is the number of
// attempts to write the consent to the sending account, including the current one.
type claimedRow struct {
	Contact  string `db:"contact_id"`
	Attempts int    `db:"attempts"`
}

// ClaimPushes returns up to limit pushes (queued consent) that are due, with their
// contacts. It claims them for the caller until the time in the parameter until. It reads
// the contacts in the same transaction, so they have the consent of the time of the claim.
func (s PushStore) ClaimPushes(ctx context.Context, orgID string, due, until time.Time, limit int) ([]bulk.Push, error) {
	attempts := map[string]int{}
	var found []bulk.NamedContact
	err := s.db.InTx(ctx, func(ctx context.Context) error {
		found = nil
		claimed, err := engine.List[claimedRow](ctx, s.db, claimPushes, engine.At(until), orgID, engine.At(due), limit)
		if err != nil || len(claimed) == 0 {
			return err
		}
		var ids []string
		for _, c := range claimed {
			ids, attempts[c.Contact] = append(ids, c.Contact), c.Attempts
		}
		slices.Sort(ids)
		parameter, err := engine.JSONParameter(ids)
		if err != nil {
			return err
		}
		found, err = appendContacts(ctx, s.db, orgID, nil, contactsByID, parameter)
		return err
	})
	pushes := make([]bulk.Push, len(found))
	for i, c := range found {
		pushes[i] = bulk.Push{Contact: c.Contact, Consent: *c.Pending, Attempts: attempts[c.ID]}
	}
	return pushes, err
}

// pushedConsent is the consent of one contact that the sending account has accepted: an
// element of the JSON parameter of mirrorPushed.
type pushedConsent struct {
	Org          string      `json:"org"`
	Contact      string      `json:"contact"`
	Updated      engine.Time `json:"updated"`
	Preferences  string      `json:"preferences"`
	Unsubscribed bool        `json:"unsubscribed"`
	Changes      string      `json:"changes"`
}

// SettlePushes stores in the contacts the consent that the sending account has accepted,
// and deletes this consent from the queue. It returns the number of these contacts. If a
// contact was written after its push was claimed, its consent stays queued.
func (s PushStore) SettlePushes(ctx context.Context, orgID string, until, at time.Time, settled []bulk.Push) (int, error) {
	rows := make([]pushedConsent, len(settled))
	byID := make(map[string]map[string]sending.Subscription, len(settled))
	for i, p := range settled {
		choices := contactstore.PreferenceMap(p.Contact.TopicPreferences)
		preferences, err := contactstore.EncodePreferences(choices)
		if err != nil {
			return 0, err
		}
		rows[i] = pushedConsent{
			orgID, p.Contact.ID, engine.At(p.Contact.UpdatedAt), preferences, p.Contact.UnsubscribeAll, contactstore.EncodeChanges(p.Contact.ConsentChanges),
		}
		byID[p.Contact.ID] = choices
	}
	parameter, err := engine.JSONParameter(rows)
	if err != nil {
		return 0, err
	}
	var done []string
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		if done, err = engine.Values[string](ctx, s.db, mirrorPushed, engine.At(at), parameter, engine.At(until)); err != nil || len(done) == 0 {
			return err
		}
		var topics []contactstore.Choice
		for _, id := range done {
			topics = contactstore.ChoicesOf(topics, id, byID[id])
		}
		if err := contactstore.ReplaceChoices(ctx, s.db, orgID, done, topics); err != nil {
			return err
		}
		ids, err := engine.JSONParameter(done)
		if err != nil {
			return err
		}
		_, err = s.db.Exec(ctx, deletePushes, orgID, engine.At(until), ids)
		return err
	})
	return len(done), err
}

func (s PushStore) PutOffPushes(ctx context.Context, orgID string, until, next time.Time, contactIDs []string) error {
	if len(contactIDs) == 0 {
		return nil
	}
	ids, err := engine.JSONParameter(contactIDs)
	if err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, putOffPushes, engine.At(next), orgID, engine.At(until), ids)
	return err
}
