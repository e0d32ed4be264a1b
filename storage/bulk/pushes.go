package bulk

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/sending"
	contactstore "github.com/mailhelm/mailhelm/storage/contacts"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// insertPushesText inserts pushes of new contacts; see slots.Registry.Insertion.
var insertPushesText = `
		INSERT INTO contact_pushes (org_id, contact_id, queued_at, attempts, next_at, said)
		SELECT $1, v ->> 'contact', CAST($2 AS bigint), 0, CAST($2 AS bigint), v ->> 'said'
		FROM ` + engine.ParameterRows(`$3`) + ` WHERE TRUE`

var (
	// insertPushes skips the check for conflicts: a contact that is new has no push.
	insertPushes = engine.Register("insert contact pushes", insertPushesText)
	// queuePushes replaces a queued push and resets its attempts, since the newest
	// consent is what the account has to learn.
	queuePushes = engine.Register("queue contact pushes", insertPushesText+`
		ON CONFLICT (org_id, contact_id) DO UPDATE SET queued_at = excluded.queued_at, attempts = 0,
			next_at = excluded.next_at, said = excluded.said`)
	// claimPushes walks contact_pushes_due and skips what another worker holds. next_at
	// becomes the end of the claim, by which the later statements know their own.
	claimPushes = engine.Register("claim contact pushes", `
		UPDATE contact_pushes SET next_at = CAST($1 AS bigint), attempts = attempts + 1
		WHERE org_id = $2 AND contact_id IN (
			SELECT contact_id FROM contact_pushes WHERE org_id = $2 AND next_at <= $3
			ORDER BY next_at, contact_id LIMIT $4 /*pg FOR UPDATE SKIP LOCKED*/)
		RETURNING contact_id, attempts`)
	// The update applies only to a contact that is unchanged since it was read. A contact
	// that was written since keeps its consent, and its push stays queued.
	mirrorPushed = engine.Register("mirror pushed consent", `
		UPDATE contacts SET topic_preferences = v ->> 'preferences', unsubscribe_all = CAST(v ->> 'unsubscribed' AS boolean),
			updated_at = CAST($1 AS bigint)
		FROM `+engine.ParameterRows(`$2`)+`
		WHERE contacts.org_id = v ->> 'org' AND contacts.id = v ->> 'contact' AND contacts.updated_at = CAST(v ->> 'updated' AS bigint)
		AND EXISTS (SELECT 1 FROM contact_pushes AS p
			WHERE p.org_id = contacts.org_id AND p.contact_id = contacts.id AND p.next_at = CAST($3 AS bigint))
		RETURNING contacts.id`)
	// deletePushes deletes only pushes with the time of this claim. A push that was
	// queued again has another time.
	deletePushes = engine.Register("delete contact pushes", `
		DELETE FROM contact_pushes WHERE org_id = $1 AND next_at = $2
		AND contact_id IN (SELECT j.atom FROM json_each(CAST($3 AS text)) AS j)`)
	putOffPushes = engine.Register("put off contact pushes", `
		UPDATE contact_pushes SET next_at = CAST($1 AS bigint) WHERE org_id = $2 AND next_at = $3
		AND contact_id IN (SELECT j.atom FROM json_each(CAST($4 AS text)) AS j)`)
	// countPushes counts waiting and claimed pushes alike.
	countPushes = engine.Register("count contact pushes", `SELECT count(*) FROM contact_pushes WHERE org_id = $1`)
)

// queuedPush is an element of the parameter of insertPushes and queuePushes. Said is
// JSON.
type queuedPush struct {
	Contact string `json:"contact"`
	Said    string `json:"said"`
}

// pushParameters holds the pushes of a write as rows of parameters, "" if there are none.
// insert is for new contacts (insertPushes), queue for existing ones (queuePushes).
type pushParameters struct{ insert, queue string }

// pushesOf returns the pushes of a write, sorted by contact, so that two transactions
// lock in one order.
func pushesOf(w bulk.ContactsWrite) (pushParameters, error) {
	isNew := make(map[string]bool, len(w.Insert))
	for _, c := range w.Insert {
		isNew[c.ID] = true
	}
	var insert, queue []queuedPush
	for _, contact := range slices.Sorted(maps.Keys(w.Push)) {
		said, err := json.Marshal(w.Push[contact])
		if err != nil {
			return pushParameters{}, fmt.Errorf("storage: what was said of a contact: %w", err)
		}
		if row := (queuedPush{contact, string(said)}); isNew[contact] {
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

// PushStore stores what the account has yet to learn of contacts.
type PushStore struct{ db *engine.DB }

var _ bulk.PushStore = PushStore{}

// NewPushStore returns the store on a database.
func NewPushStore(db *engine.DB) PushStore { return PushStore{db} }

// writePushes stores the pushes of a write, due at once.
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

// claimedRow is a claimed push. Attempts includes this one.
type claimedRow struct {
	Contact  string `db:"contact_id"`
	Attempts int    `db:"attempts"`
}

// ClaimPushes claims and reads in one transaction, so that the consent is the one at the
// time of the claim.
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
		found, err = named(ctx, s.db, orgID, nil, contactsByID, parameter)
		return err
	})
	pushes := make([]bulk.Push, len(found))
	for i, c := range found {
		pushes[i] = bulk.Push{Contact: c.Contact, Said: *c.Pending, Attempts: attempts[c.ID]}
	}
	return pushes, err
}

// pushedConsent is an element of the parameter of mirrorPushed.
type pushedConsent struct {
	Org          string      `json:"org"`
	Contact      string      `json:"contact"`
	Updated      engine.Time `json:"updated"`
	Preferences  string      `json:"preferences"`
	Unsubscribed bool        `json:"unsubscribed"`
}

// SettlePushes keeps the push of a contact that was written since the claim; the next
// claim pushes its new consent.
func (s PushStore) SettlePushes(ctx context.Context, orgID string, until, at time.Time, settled []bulk.Push) (int, error) {
	rows := make([]pushedConsent, len(settled))
	byID := make(map[string]map[string]sending.Subscription, len(settled))
	for i, p := range settled {
		choices := contactstore.PreferenceMap(p.Contact.TopicPreferences)
		preferences, err := contactstore.EncodePreferences(choices)
		if err != nil {
			return 0, err
		}
		rows[i] = pushedConsent{orgID, p.Contact.ID, engine.At(p.Contact.UpdatedAt), preferences, p.Contact.UnsubscribeAll}
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

func (s PushStore) CountPushes(ctx context.Context, orgID string) (int, error) {
	counts, err := engine.Values[int](ctx, s.db, countPushes, orgID)
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}
