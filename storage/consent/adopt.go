package consent

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var (
	noteMoved = engine.Register("note moved consent", `UPDATE consent_lists SET moved = $1 WHERE org_id = $2`)
	// organizationsByProvider selects organizations by the provider of their accounts. It reads all
	// connections, once when a server starts.
	organizationsByProvider = engine.Register("organizations by provider", `SELECT org_id FROM connections WHERE provider = $1`)
)

// Organizations returns the ids of all organizations that send through an SMTP server.
func (s Store) Organizations(ctx context.Context) ([]string, error) {
	return engine.Values[string](ctx, s.db, organizationsByProvider, string(sending.SMTP))
}

// Moved is a contact list that was kept elsewhere.
type Moved struct {
	List sending.ContactList
	// Hash is a hash of the list with all its contacts.
	Hash string
	// Contacts returns the contacts in pages of at most 1,000. It may be called several times.
	Contacts func() iter.Seq2[[]sending.Contact, error]
}

// Adopt adds a contact list to that of the organization, in one transaction. It adds topics and
// contacts that the organization does not have, and changes no stored one: what the database has
// is newer. It does nothing if the list with this hash is the one that it last added, so that a
// move that was interrupted after its commit can be repeated, and no contact that was deleted
// since comes back. Topics may exceed the maximum number, because choices of contacts need them.
func (s Store) Adopt(ctx context.Context, orgID string, m Moved) error {
	err := s.db.InTx(ctx, func(ctx context.Context) error {
		at := s.clock()
		inserted, err := s.db.Exec(ctx, insertConsentList, orgID, m.List.Name, m.List.Description, engine.At(m.List.UpdatedAt))
		if err != nil {
			return err
		}
		if inserted > 0 {
			at = m.List.UpdatedAt
		}
		list, err := s.list(ctx, holdConsentList, 0, orgID)
		if err != nil || list.Moved == m.Hash {
			return err
		}
		if err := s.adoptTopics(ctx, orgID, m.List.Topics, at); err != nil {
			return err
		}
		for page, err := range m.Contacts() {
			if err != nil {
				return err
			}
			if err := s.adoptContacts(ctx, orgID, page); err != nil {
				return err
			}
		}
		_, err = s.db.Exec(ctx, noteMoved, m.Hash, orgID)
		return err
	})
	return failureOf(err, true)
}

// adoptTopics adds the topics that the list does not have.
func (s Store) adoptTopics(ctx context.Context, orgID string, topics []sending.Topic, at time.Time) error {
	before, err := engine.List[topicRow](ctx, s.db, consentTopics, orgID)
	if err != nil {
		return err
	}
	after := make([]sending.Topic, len(before))
	for i, row := range before {
		after[i] = row.topic()
	}
	for _, t := range topics {
		if !slices.ContainsFunc(before, func(row topicRow) bool { return row.Name == t.Name }) {
			after = append(after, t)
		}
	}
	if err := sending.CheckTopics(after); err != nil {
		return err
	}
	return s.replaceTopics(ctx, orgID, before, after, at)
}

// adoptContacts adds the contacts that the list does not have, with their times.
func (s Store) adoptContacts(ctx context.Context, orgID string, contacts []sending.Contact) error {
	list, err := s.list(ctx, holdConsentList, len(contacts), orgID)
	if err != nil {
		return err
	}
	put := make([]savedContact, len(contacts))
	for i, c := range contacts {
		put[i] = saved(c, list.NextPosition-int64(len(contacts)-i), c.UpdatedAt)
	}
	return engine.ExecRows(ctx, s.db, adoptConsentContacts, orgID, put)
}
