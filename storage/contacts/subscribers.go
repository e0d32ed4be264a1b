package contacts

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/slots"
)

// SubscriberStore reads and writes contacts for the sync with the sending account.
type SubscriberStore struct{ db *engine.DB }

var _ topics.SubscriberStore = SubscriberStore{}

// NewSubscriberStore returns the store of contacts and their consent that the sync with the
// sending account uses.
func NewSubscriberStore(db *engine.DB) SubscriberStore { return SubscriberStore{db} }

// mirrorContacts copies the consent of one page of the sending account's contacts to the
// table contacts. It returns the contacts that it inserted or updated. It does not update a
// stored contact that is archived, or was updated at or after the time $3, or whose consent
// is waiting to be written to the sending account. It updates a contact with equal consent
// only if it is a stub.
var mirrorContacts = engine.Register("mirror contacts", InsertSQL(`$2`)+`
	ON CONFLICT (org_id, email_key) DO UPDATE SET topic_preferences = excluded.topic_preferences,
		unsubscribe_all = excluded.unsubscribe_all, consent_changes = excluded.consent_changes, shell = contacts.shell OR contacts.stub, stub = FALSE, updated_at = excluded.updated_at
	WHERE contacts.status = 'active' AND contacts.updated_at < $3
	AND NOT EXISTS (SELECT 1 FROM contact_pushes AS p WHERE p.org_id = contacts.org_id AND p.contact_id = contacts.id)
	AND (contacts.stub OR contacts.topic_preferences <> excluded.topic_preferences OR contacts.unsubscribe_all <> excluded.unsubscribe_all)
	RETURNING id, email_key`)

// changedConsent reads the stored contacts of a page whose consent differs from that of the
// sending account. Usually these are few. It takes no locks, because mirrorContacts does not
// update a contact that is written after it was read.
var changedConsent = engine.Register("changed consent", `
	SELECT `+ColumnsSQL("c.")+`, c.email_key FROM `+engine.RowsNamed("contacts", engine.Named{Column: "email_key", Equals: "j.value ->> 'email_key'"})+`
	AND (c.topic_preferences <> CAST(j.value ->> 'topic_preferences' AS bytetext) OR c.unsubscribe_all <> CAST(j.value ->> 'unsubscribe_all' AS boolean))`)

// mirroredAddresses reads a page of active contacts through the primary key, so that every
// page costs the same. The column shell is true for contacts that exist only because of a
// sync or an activity.
var mirroredAddresses = engine.Register("mirrored addresses", `
	SELECT id, email, shell OR stub AS shell, updated_at FROM contacts WHERE org_id = $1 AND id > $2 AND status = 'active' ORDER BY id LIMIT $3`)

// addressRow has the columns of an active contact that are compared with the contacts of
// the sending account, to repair differences.
type addressRow struct {
	ID        string      `db:"id"`
	Email     string      `db:"email"`
	Shell     bool        `db:"shell"`
	UpdatedAt engine.Time `db:"updated_at"`
}

func (s SubscriberStore) MirroredAddresses(ctx context.Context, orgID, after string, limit int) ([]topics.MirroredAddress, error) {
	return engine.ListAs(ctx, s.db, addressRow.mirroredAddress, mirroredAddresses, orgID, after, limit)
}

// mirroredAddress converts the row to a topics.MirroredAddress.
func (r addressRow) mirroredAddress() topics.MirroredAddress {
	return topics.MirroredAddress{ContactID: r.ID, Email: r.Email, Shell: r.Shell, UpdatedAt: r.UpdatedAt.Time()}
}

// SubscriberByID returns the consent of the contact with the id. Inside a transaction it
// locks the contact.
func (s SubscriberStore) SubscriberByID(ctx context.Context, orgID, id string) (topics.Subscriber, error) {
	c, err := Store(s).ContactByID(ctx, orgID, id)
	return subscriberOf(c), err
}

func (s SubscriberStore) SubscriberByEmail(ctx context.Context, orgID, email string) (topics.Subscriber, error) {
	c, err := Store(s).ContactByEmail(ctx, orgID, email)
	return subscriberOf(c), err
}

// DropShell deletes a contact that exists only because a sync created it, unless it has
// activities.
func (s SubscriberStore) DropShell(ctx context.Context, orgID, contactID string) error {
	return Store(s).DropShell(ctx, orgID, contactID)
}

// subscriberOf returns the fields of a contact that the sync compares with the contact in
// the sending account.
func subscriberOf(c contacts.Contact) topics.Subscriber {
	return topics.Subscriber{
		ID: c.ID, Archived: c.Status == contacts.Archived, Shell: c.Shell, Stub: c.Stub, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
		Consent: sending.Contact{Email: c.Email, UnsubscribeAll: c.UnsubscribeAll, Preferences: topics.ChoicesByTopic(c.TopicPreferences)},
	}
}

// mirrorRow is an element of the JSON parameter of mirrorContacts: a row of the table
// contacts. The consent is that of the account and not part of the JSON.
type mirrorRow struct {
	Row

	consent sending.Contact
}

// mirroredRow is a contact that mirrorContacts inserted or updated. An inserted contact has
// the id that mirroredRows generated.
type mirroredRow struct {
	ID  string `db:"id"`
	Key string `db:"email_key"`
}

// MirrorConsent stores the consent of a page of the sending account's contacts. It returns
// how many contacts it inserted and updated, and their ids. It skips contacts that were
// written since asked, the time at which the page was requested from the sending account.
// It runs at most five statements for a page of any size.
func (s SubscriberStore) MirrorConsent(ctx context.Context, orgID string, page []sending.Contact, asked, at time.Time) (topics.Mirrored, []string, error) {
	rows, err := mirroredRows(page, at)
	if err != nil {
		return topics.Mirrored{}, nil, err
	}
	var count topics.Mirrored
	var touched []string
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		parameter, err := s.withEarlierChanges(ctx, orgID, rows, at)
		if err != nil {
			return err
		}
		written, err := engine.List[mirroredRow](ctx, s.db, mirrorContacts, orgID, parameter, engine.At(asked))
		if err != nil {
			return err
		}
		touched = make([]string, len(written))
		for i, w := range written {
			touched[i] = w.ID
		}
		updated, choices := compare(rows, written)
		if err := slots.Add(ctx, s.db, orgID, idsOf(written)); err != nil {
			return err
		}
		count = topics.Mirrored{
			Created: len(written) - len(updated), Updated: len(updated), Unchanged: len(rows) - len(written),
		}
		return ReplaceChoices(ctx, s.db, orgID, updated, choices)
	})
	if err != nil {
		return topics.Mirrored{}, nil, err
	}
	return count, touched, nil
}

// mirroredRows converts a page of the sending account's contacts to rows for
// mirrorContacts. Each row has a new id, which is used if the contact is new. The rows are
// sorted by address, so that concurrent calls lock rows in the same order. If several
// contacts have the same address, it keeps the last of them.
func mirroredRows(page []sending.Contact, at time.Time) ([]mirrorRow, error) {
	rows := make([]mirrorRow, 0, len(page))
	for _, c := range page {
		preferences, err := EncodePreferences(c.Preferences)
		if err != nil {
			return nil, err
		}
		shell := contacts.Contact{
			ID: core.NewID(), Email: c.Email, Status: contacts.Active, Shell: true, CreatedAt: at, UpdatedAt: at,
		}
		rows = append(rows, mirrorRow{RowOf(shell.WithAccountConsent(c, at), emptyObject, preferences), c})
	}
	slices.Reverse(rows)
	slices.SortStableFunc(rows, func(a, b mirrorRow) int { return strings.Compare(a.EmailKey, b.EmailKey) })
	return slices.CompactFunc(rows, func(a, b mirrorRow) bool { return a.EmailKey == b.EmailKey }), nil
}

// withEarlierChanges sets the consent changes of each row whose contact is stored with
// another consent: those that are stored, and the present one at the account. It returns the
// JSON parameter of mirrorContacts.
func (s SubscriberStore) withEarlierChanges(ctx context.Context, orgID string, rows []mirrorRow, at time.Time) (string, error) {
	parameter, err := engine.JSONParameter(rows)
	if err != nil {
		return "", err
	}
	stored, err := engine.List[Row](ctx, s.db, changedConsent, parameter, orgID)
	if err != nil || len(stored) == 0 {
		return parameter, err
	}
	byKey := rowsByKey(rows)
	for _, row := range stored {
		contact, err := row.Contact()
		if err != nil {
			return "", err
		}
		mirrored := byKey[row.EmailKey]
		mirrored.ConsentChanges = EncodeChanges(contact.WithAccountConsent(mirrored.consent, at).ConsentChanges)
	}
	return engine.JSONParameter(rows)
}

// rowsByKey returns the rows by the keys of their addresses.
func rowsByKey(rows []mirrorRow) map[string]*mirrorRow {
	byKey := make(map[string]*mirrorRow, len(rows))
	for i := range rows {
		byKey[rows[i].EmailKey] = &rows[i]
	}
	return byKey
}

// compare returns the ids of the updated contacts, and the topic choices of all written
// contacts. A written contact is new, not updated, if it has the id that mirroredRows
// generated.
func compare(rows []mirrorRow, written []mirroredRow) ([]string, []Choice) {
	byKey := rowsByKey(rows)
	var updated []string
	var choices []Choice
	for _, w := range written {
		row := byKey[w.Key]
		if w.ID != row.ID {
			updated = append(updated, w.ID)
		}
		choices = ChoicesOf(choices, w.ID, row.consent.Preferences)
	}
	return updated, choices
}

// idsOf returns the ids of the written contacts, in the order of rows.
func idsOf(rows []mirroredRow) []string {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	return ids
}
