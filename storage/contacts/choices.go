package contacts

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var (
	// deleteContactTopics deletes the topic choices of many contacts through the primary
	// key, which begins with organization and contact.
	deleteContactTopics = engine.Register("delete contact topics", `
		DELETE FROM contact_topics WHERE (org_id, contact_id) IN `+ManySQL(`$1`, `$2`))
	// insertContactTopics inserts topic choices. It fails if a choice exists, so the caller
	// first deletes the contact's earlier choices.
	insertContactTopics = engine.Register("insert contact topics", `
		INSERT INTO contact_topics (org_id, contact_id, topic, subscription)
		SELECT $1, j.value ->> 'contact', j.value ->> 'topic', j.value ->> 'subscription'
		FROM json_each(CAST($2 AS text)) AS j`)
)

// ManySQL returns a subquery with the pairs (organization, id) of many contacts. org and
// ids are parameters: the organization and a JSON array of ids. The materialized subquery
// hides from PostgreSQL that the organization is constant. PostgreSQL would otherwise read
// all rows of the organization.
func ManySQL(org, ids string) string {
	return `(WITH j AS MATERIALIZED (SELECT CAST(` + org + ` AS bytetext) AS org, atom FROM json_each(CAST(` + ids + ` AS text)))
			SELECT org, atom FROM j)`
}

// Choice is a contact's explicit choice about a topic. It is an element of the JSON
// parameter of insertContactTopics.
type Choice struct {
	Contact      string               `json:"contact"`
	Topic        string               `json:"topic"`
	Subscription sending.Subscription `json:"subscription"`
}

// ChoicesOf appends the contact's explicit choices, given by topic, to rows.
func ChoicesOf(rows []Choice, contactID string, choices map[string]sending.Subscription) []Choice {
	for topic, subscription := range choices {
		rows = append(rows, Choice{contactID, topic, subscription})
	}
	return rows
}

// ReplaceChoices deletes all explicit topic choices of the contacts and inserts the choices
// in rows.
func ReplaceChoices(ctx context.Context, db *engine.DB, orgID string, contactIDs []string, rows []Choice) error {
	if len(contactIDs) > 0 {
		ids, err := engine.JSONParameter(contactIDs)
		if err != nil {
			return err
		}
		if all := lockedContacts.Of(ctx, db); all != nil {
			for _, id := range contactIDs {
				delete(*all, id)
			}
		}
		if _, err := db.Exec(ctx, deleteContactTopics, orgID, ids); err != nil {
			return err
		}
	}
	return AddChoices(ctx, db, orgID, rows)
}

// AddChoices inserts explicit topic choices. It fails if a contact already has an explicit
// choice about the topic.
func AddChoices(ctx context.Context, db *engine.DB, orgID string, rows []Choice) error {
	if len(rows) == 0 {
		return nil
	}
	return engine.ExecRows(ctx, db, insertContactTopics, orgID, rows)
}

// EncodePreferences returns the topic preferences as a JSON object with sorted keys, so
// that equal preferences give equal text.
func EncodePreferences(preferences map[string]sending.Subscription) (string, error) {
	if len(preferences) == 0 {
		return emptyObject, nil
	}
	b, err := json.Marshal(preferences)
	if err != nil {
		return "", fmt.Errorf("storage: topic preferences: %w", err)
	}
	return string(b), nil
}

// decodePreferences parses the JSON object of EncodePreferences. It returns the preferences
// sorted by topic.
func decodePreferences(stored string) ([]topics.Preference, error) {
	all := make([]topics.Preference, 0, strings.Count(stored, `":`))
	if eachMember(stored, func(topic, status string, isText bool) bool {
		sorted := len(all) == 0 || all[len(all)-1].Topic < topic
		all = append(all, topics.Preference{Topic: topic, SubscriptionStatus: sending.Subscription(status)})
		return sorted && isText
	}) {
		return all, nil
	}
	var byTopic map[string]sending.Subscription
	if err := json.Unmarshal([]byte(stored), &byTopic); err != nil {
		return nil, err
	}
	all = all[:0]
	for _, topic := range slices.Sorted(maps.Keys(byTopic)) {
		all = append(all, topics.Preference{Topic: topic, SubscriptionStatus: byTopic[topic]})
	}
	return all, nil
}

// PreferenceMap returns choices by topic.
func PreferenceMap(preferences []topics.Preference) map[string]sending.Subscription {
	byTopic := make(map[string]sending.Subscription, len(preferences))
	for _, p := range preferences {
		byTopic[p.Topic] = p.SubscriptionStatus
	}
	return byTopic
}
