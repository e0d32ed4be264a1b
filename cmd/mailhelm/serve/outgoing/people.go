package outgoing

import (
	"context"
	"maps"

	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/contacts"
)

// People reads the data of contacts for their messages; it is a [templates.People].
type People struct{ Store contacts.Store }

// MessageData returns the attributes of a contact, and its address.
func (m People) MessageData(ctx context.Context, orgID, contactID string) (map[string]any, error) {
	c, err := m.Store.ContactByID(ctx, orgID, contactID)
	if err != nil {
		return nil, err
	}
	data := map[string]any{}
	maps.Copy(data, c.Attributes)
	data["email"] = c.Email
	return data, nil
}

// Attributes reads the attributes of contacts for templates; it is a
// [templates.Registry].
type Attributes struct{ Store attributes.Store }

// AttributeNames returns the names of all attributes.
func (r Attributes) AttributeNames(ctx context.Context, orgID string) ([]string, error) {
	all, err := r.Store.Attributes(ctx, orgID)
	names := make([]string, 0, len(all))
	for _, a := range all {
		names = append(names, a.Name)
	}
	return names, err
}
