package contacts

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/slots"
)

// contactsPage selects a page of contacts with the status $2, newest first. Each other
// filter matches all contacts if it is "" or NULL. The topic filter compares the contact's
// explicit choice. Without an explicit choice it compares the topic's default. With OPT_IN
// it excludes stubs. Attribute values are compared as JSON text.
var contactsPage = engine.Register("contacts page", `
		SELECT `+ColumnsSQL("c.")+` FROM contacts AS c
		WHERE c.org_id = $1 AND c.status = $2 AND (c.created_at, c.id) < ($3, $4)
		AND (CAST($5 AS text) = ''
			OR EXISTS (SELECT 1 FROM contact_topics AS p
				WHERE p.org_id = c.org_id AND p.contact_id = c.id AND p.topic = $5 AND p.subscription = $6)
			OR EXISTS (SELECT 1 FROM topics AS t
				WHERE t.org_id = c.org_id AND t.name = $5 AND t.default_subscription = $6
				AND NOT EXISTS (SELECT 1 FROM contact_topics AS p
					WHERE p.org_id = c.org_id AND p.contact_id = c.id AND p.topic = $5)))
		AND (CAST($5 AS text) = '' OR $6 <> 'OPT_IN' OR NOT c.stub)
		AND (CAST($7 AS boolean) IS NULL OR c.unsubscribe_all = $7)
		AND (CAST($8 AS text) = '' OR CAST(c.attributes/*pg ::json*/ -> $8 AS text) IN ($9, $10))
		ORDER BY c.created_at DESC, c.id DESC LIMIT $11`)

func (s Store) Contacts(ctx context.Context, orgID string, f contacts.ContactFilter) ([]contacts.Contact, error) {
	if strings.ContainsFunc(f.AttributeKey, func(r rune) bool { return !inAttributeName(r) }) {
		// the key has a character that attribute names cannot have; SQLite could read such a
		// key as a JSON path
		return nil, nil
	}
	asString, asScalar, err := jsonForms(f.AttributeValue)
	if err != nil {
		return nil, err
	}
	exceptions, err := slots.Exceptions(ctx, s.db, orgID)
	if err != nil || hides(exceptions, f.AttributeKey, f.AttributeValue) {
		return nil, err
	}
	created, id := engine.PageStart(f.After)
	rows, err := engine.List[Row](ctx, s.db, contactsPage, orgID, string(cmp.Or(f.Status, contacts.Active)), created, id,
		f.Topic, string(cmp.Or(f.Subscription, sending.OptIn)), f.UnsubscribeAll, f.AttributeKey, asString, asScalar, f.Limit)
	if err != nil {
		return nil, err
	}
	contacts := make([]contacts.Contact, len(rows))
	for i, row := range rows {
		if contacts[i], err = row.Contact(); err != nil {
			return nil, err
		}
		contacts[i].Attributes, contacts[i].Hidden = attributes.Show(contacts[i].Attributes, exceptions)
	}
	return contacts, nil
}

// hides reports whether no contact can match a filter by this attribute name and value. One
// reason is that the values stored under the name belong to another attribute or to a
// deleted one. The other is that the value does not fit the attribute's type.
func hides(exceptions []attributes.Exception, key string, value *string) bool {
	return key != "" && slices.ContainsFunc(exceptions, func(e attributes.Exception) bool {
		if e.Name != key || e.Present != key {
			return e.Name == key
		}
		_, fits := attributes.Attribute{Type: e.Type}.Settle(*value)
		return !fits
	})
}

// inAttributeName reports whether the character is allowed in the name of an attribute.
func inAttributeName(r rune) bool {
	return r == '_' || (r >= 'a' && r <= 'z') || (r >= '0' && r <= '9')
}

// jsonForms returns the two JSON texts that a filter by value matches: the string, and the
// number or boolean with the same spelling.
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
