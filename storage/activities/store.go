package activities

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store stores activities and promoted properties.
type Store struct {
	db       *engine.DB
	contacts Contacts
}

// Contacts inserts the contacts to which activities refer and which do not exist yet. The
// contact store implements it.
type Contacts interface {
	// InsertStubs inserts a stub for each person without a contact, and returns how many it
	// inserted. A stub is a contact known only from activities.
	InsertStubs(ctx context.Context, orgID string, people []activities.Person, at time.Time) (int, error)
}

var _ activities.Store = Store{}

// New returns the store on the database. It inserts stubs (contacts known only from
// activities) through the given contact store.
func New(db *engine.DB, contacts Contacts) Store { return Store{db, contacts} }

// personRow is a contact with the keys by which activities may name it.
type personRow struct {
	ID         string  `db:"id"`
	EmailKey   string  `db:"email_key"`
	ExternalID *string `db:"external_id"`
}

var (
	// peopleByEmail and peopleByExternalID are two statements, because an engine does not
	// always use both indexes for one statement with both conditions.
	peopleByEmail      = engine.Register("people by email", `SELECT c.id, c.email_key, c.external_id FROM `+engine.RowsNamed("contacts", engine.Named{Column: "email_key", Equals: "j.atom"}))
	peopleByExternalID = engine.Register("people by external id", `SELECT c.id, c.email_key, c.external_id FROM `+engine.RowsNamed("contacts", engine.Named{Column: "external_id", Equals: "j.atom"}))

	// bindExternalIDs sets an external id on a contact that has none, unless another contact
	// has that external id. The statement checks this, because a unique violation would
	// abort the transaction on PostgreSQL.
	bindExternalIDs = engine.Register("bind external ids", `
		UPDATE contacts SET external_id = r.external, updated_at = CAST($1 AS bigint)
		FROM (SELECT v ->> 'id' AS id, v ->> 'external' AS external FROM `+engine.ParameterRows(`$2`)+`) AS r
		WHERE contacts.org_id = $3 AND contacts.id = r.id AND contacts.external_id IS NULL
		AND NOT EXISTS (SELECT 1 FROM contacts AS other WHERE other.org_id = $3 AND other.external_id = r.external)`)

	// contactByReference searches for a contact by id, then by address, then by external id, and
	// returns the first match.
	contactByReference = engine.RegisterPoint("contact by reference", `
		SELECT id FROM (
			SELECT id, 1 AS place FROM contacts WHERE org_id = $1 AND id = $2
			UNION ALL SELECT id, 2 FROM contacts WHERE org_id = $1 AND email_key = $3
			UNION ALL SELECT id, 3 FROM contacts WHERE org_id = $1 AND external_id = $4) AS found
		ORDER BY place LIMIT 1`)
)

func (s Store) EmailKey(email string) string { return core.EmailKey(email) }

// Identify returns the contacts with one of the addresses or one of the external ids. A
// contact that is found by both its address and its external id is returned twice.
func (s Store) Identify(ctx context.Context, orgID string, emailKeys, externalIDs []string) ([]activities.Person, error) {
	found := make([]activities.Person, 0, len(emailKeys)+len(externalIDs))
	for _, by := range []struct {
		statement *engine.Statement
		keys      []string
	}{{peopleByEmail, emailKeys}, {peopleByExternalID, externalIDs}} {
		if len(by.keys) == 0 {
			continue
		}
		parameter, err := engine.JSONParameter(by.keys)
		if err != nil {
			return nil, err
		}
		rows, err := engine.List[personRow](ctx, s.db, by.statement, parameter, orgID)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			found = append(found, row.person())
		}
	}
	return found, nil
}

// person converts the row to an activities.Person. A missing external id becomes "".
func (r personRow) person() activities.Person {
	p := activities.Person{ID: r.ID, EmailKey: r.EmailKey}
	if r.ExternalID != nil {
		p.ExternalID = *r.ExternalID
	}
	return p
}

// externalIDRow is an element of the JSON parameter of bindExternalIDs: a contact with its
// new external id.
type externalIDRow struct {
	ID       string `json:"id"`
	External string `json:"external"`
}

// InsertStubs inserts a stub for each person without a contact, and returns how many it
// inserted. A stub is a contact known only from activities.
func (s Store) InsertStubs(ctx context.Context, orgID string, people []activities.Person, at time.Time) (int, error) {
	return s.contacts.InsertStubs(ctx, orgID, people, at)
}

func (s Store) BindExternalIDs(ctx context.Context, orgID string, people []activities.Person, at time.Time) (int, error) {
	rows := make([]externalIDRow, len(people))
	for i, p := range people {
		rows[i] = externalIDRow{p.ID, p.ExternalID}
	}
	parameter, err := engine.JSONParameter(rows)
	if err != nil {
		return 0, err
	}
	return s.db.Exec(ctx, bindExternalIDs, engine.At(at), parameter, orgID)
}

// ContactByReference returns the id of the contact with this id, address or external id, or
// "" without such a contact.
func (s Store) ContactByReference(ctx context.Context, orgID, reference string) (string, error) {
	id, email := "", ""
	if core.IsID(reference) {
		id = reference
	}
	if canonical, ok := core.CanonicalEmail(reference); ok {
		email = core.EmailKey(canonical)
	}
	found, err := engine.Values[string](ctx, s.db, contactByReference, orgID, id, email, reference)
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0], nil
}
