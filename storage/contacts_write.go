package storage

import (
	"context"

	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var (
	insertContact = engine.Register("insert contact", insertContactText()+`
		ON CONFLICT DO NOTHING`)
	updateContact = engine.Register("update contact", updateContactText())

	// A contact with activities is kept, because deleting it would lose them.
	dropShell = engine.Register("drop shell", `
		DELETE FROM contacts WHERE org_id = $1 AND id = $2 AND shell
		AND NOT EXISTS (SELECT 1 FROM activities AS a WHERE a.org_id = $1 AND a.contact_id = $2)`)

	deleteContactTopics = engine.Register("delete contact topics", `
		DELETE FROM contact_topics WHERE (org_id, contact_id) IN `+manyOfOrg(`$1`, `$2`))
	insertContactTopics = engine.Register("insert contact topics", `
		INSERT INTO contact_topics (org_id, contact_id, topic, subscription)
		SELECT $1, j.value ->> 'contact', j.value ->> 'topic', j.value ->> 'subscription'
		FROM json_each(CAST($2 AS text)) AS j`)
)

func (s contactStore) InsertContact(ctx context.Context, orgID string, c contacts.Contact) error {
	choices := preferenceMap(c.TopicPreferences)
	preferences, err := encodePreferences(choices)
	if err != nil {
		return err
	}
	return s.db.InTx(ctx, func(ctx context.Context) error {
		settled, attributes, err := slotStore(s).slotAttributes(ctx, orgID, c.StoredAttributes())
		if err != nil {
			return err
		}
		row := rowOf(c, attributes, preferences)
		err = s.db.Insert(ctx, taken(), insertContact, append([]any{orgID}, row.values()...)...)
		if err != nil {
			return err
		}
		if err := slotStore(s).writeSlots(ctx, orgID, []slottedContact{{c.ID, c.Status, settled}}); err != nil {
			return err
		}
		return s.addTopics(ctx, orgID, topicsOf(nil, c.ID, choices))
	})
}

func (s contactStore) UpdateContact(ctx context.Context, orgID string, c contacts.Contact) error {
	choices := preferenceMap(c.TopicPreferences)
	preferences, err := encodePreferences(choices)
	if err != nil {
		return err
	}
	return s.db.InTx(ctx, func(ctx context.Context) error {
		settled, attributes, err := slotStore(s).slotAttributes(ctx, orgID, c.StoredAttributes())
		if err != nil {
			return err
		}
		c.Shell = false // the caller has now provided this contact
		row := rowOf(c, attributes, preferences)
		changed, err := s.db.Exec(ctx, updateContact, append(row.changes(), orgID, c.ID)...)
		if err != nil {
			return err
		}
		if changed == 0 {
			if _, err := s.ContactByID(ctx, orgID, c.ID); err != nil {
				return err
			}
			return taken()
		}
		if err := slotStore(s).writeSlots(ctx, orgID, []slottedContact{{c.ID, c.Status, settled}}); err != nil {
			return err
		}
		if before, read := (*readPreferences.Of(ctx, s.db))[c.ID]; read && before == preferences {
			return nil
		}
		return s.replaceTopics(ctx, orgID, []string{c.ID}, topicsOf(nil, c.ID, choices))
	})
}

func (s contactStore) DropShell(ctx context.Context, orgID, contactID string) error {
	_, err := s.db.Exec(ctx, dropShell, orgID, contactID)
	return err
}

// contactTopic is an element of the parameter of insertContactTopics.
type contactTopic struct {
	Contact      string               `json:"contact"`
	Topic        string               `json:"topic"`
	Subscription sending.Subscription `json:"subscription"`
}

func topicsOf(rows []contactTopic, contactID string, choices map[string]sending.Subscription) []contactTopic {
	for topic, subscription := range choices {
		rows = append(rows, contactTopic{contactID, topic, subscription})
	}
	return rows
}

// replaceTopics replaces the explicit choices of these contacts with rows.
func (s contactStore) replaceTopics(ctx context.Context, orgID string, contactIDs []string, rows []contactTopic) error {
	if len(contactIDs) > 0 {
		ids, err := engine.JSONParameter(contactIDs)
		if err != nil {
			return err
		}
		if read := readPreferences.Of(ctx, s.db); read != nil {
			for _, id := range contactIDs {
				delete(*read, id)
			}
		}
		if _, err := s.db.Exec(ctx, deleteContactTopics, orgID, ids); err != nil {
			return err
		}
	}
	return s.addTopics(ctx, orgID, rows)
}

func (s contactStore) addTopics(ctx context.Context, orgID string, rows []contactTopic) error {
	if len(rows) == 0 {
		return nil
	}
	parameter, err := engine.JSONParameter(rows)
	if err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, insertContactTopics, orgID, parameter)
	return err
}
