package storage

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// contactRow is a contact's record as it is stored. Every statement that reads or writes
// whole records is generated from its fields; see contact_columns.go. A new column needs
// a field here, and a line each in contactRow.contact and rowOf.
type contactRow struct {
	ID               string                 `db:"id" json:"id"`
	Email            string                 `db:"email" json:"email"`
	EmailKey         string                 `db:"email_key" json:"email_key" read:"never"`
	ExternalID       *string                `db:"external_id" json:"external_id"`
	Status           contacts.ContactStatus `db:"status" json:"status"`
	Attributes       string                 `db:"attributes" json:"attributes"`
	TopicPreferences string                 `db:"topic_preferences" json:"topic_preferences"`
	UnsubscribeAll   bool                   `db:"unsubscribe_all" json:"unsubscribe_all"`
	Shell            bool                   `db:"shell" json:"shell"`
	Stub             bool                   `db:"stub" json:"stub"`
	CreatedAt        engine.Time            `db:"created_at" json:"created_at" write:"once"`
	UpdatedAt        engine.Time            `db:"updated_at" json:"updated_at"`
}

// rowOf returns the record of a contact. attributes and preferences must be in their
// stored form.
func rowOf(c contacts.Contact, attributes, preferences string) contactRow {
	return contactRow{
		ID: c.ID, Email: c.Email, EmailKey: contacts.EmailKey(c.Email), ExternalID: c.ExternalID, Status: c.Status,
		Attributes: attributes, TopicPreferences: preferences, UnsubscribeAll: c.UnsubscribeAll, Shell: c.Shell, Stub: c.Stub,
		CreatedAt: engine.At(c.CreatedAt), UpdatedAt: engine.At(c.UpdatedAt),
	}
}

const emptyObject = "{}"

func (r contactRow) contact() (contacts.Contact, error) {
	c := contacts.Contact{
		ID: r.ID, Email: r.Email, ExternalID: r.ExternalID, Status: r.Status, UnsubscribeAll: r.UnsubscribeAll, Shell: r.Shell, Stub: r.Stub,
		Attributes: map[string]any{},
		CreatedAt:  r.CreatedAt.Time(), UpdatedAt: r.UpdatedAt.Time(),
	}
	if r.Attributes != emptyObject {
		if err := json.Unmarshal([]byte(r.Attributes), &c.Attributes); err != nil {
			return contacts.Contact{}, fmt.Errorf("storage: attributes of contact %s: %w", r.ID, err)
		}
	}
	var err error
	if c.TopicPreferences, err = decodePreferences(r.TopicPreferences); err != nil {
		return contacts.Contact{}, fmt.Errorf("storage: topic preferences of contact %s: %w", r.ID, err)
	}
	return c, nil
}

// encodePreferences returns the stored form, with sorted keys, so that equal choices give
// equal text.
func encodePreferences(preferences map[string]sending.Subscription) (string, error) {
	if len(preferences) == 0 {
		return emptyObject, nil
	}
	b, err := json.Marshal(preferences)
	if err != nil {
		return "", fmt.Errorf("storage: topic preferences: %w", err)
	}
	return string(b), nil
}

// decodePreferences decodes the stored form and sorts the result by topic.
func decodePreferences(stored string) ([]topics.Preference, error) {
	if stored == emptyObject {
		return []topics.Preference{}, nil
	}
	var byTopic map[string]sending.Subscription
	if err := json.Unmarshal([]byte(stored), &byTopic); err != nil {
		return nil, err
	}
	all := make([]topics.Preference, 0, len(byTopic))
	for _, topic := range slices.Sorted(maps.Keys(byTopic)) {
		all = append(all, topics.Preference{Topic: topic, SubscriptionStatus: byTopic[topic]})
	}
	return all, nil
}

func preferenceMap(preferences []topics.Preference) map[string]sending.Subscription {
	byTopic := make(map[string]sending.Subscription, len(preferences))
	for _, p := range preferences {
		byTopic[p.Topic] = p.SubscriptionStatus
	}
	return byTopic
}

func inAttributeName(r rune) bool {
	return r == '_' || (r >= 'a' && r <= 'z') || (r >= '0' && r <= '9')
}

// jsonForms returns the two JSON texts that match value: the string, and the number or
// boolean of the same spelling.
func jsonForms(value *string) (string, string, error) {
	if value == nil {
		return "", "", nil
	}
	b, err := json.Marshal(*value)
	if err != nil {
		return "", "", fmt.Errorf("storage: attribute value: %w", err)
	}
	asString := string(b)
	var scalar any
	if json.Unmarshal([]byte(*value), &scalar) == nil {
		switch scalar.(type) {
		case float64, bool:
			return asString, strings.TrimSpace(*value), nil
		}
	}
	return asString, asString, nil
}
