package contacts

import (
	"context"

	"github.com/mailhelm/mailhelm/core/attributes"
)

// withAttributes returns the contact with the changed attribute values; nil clears a value.
// It also removes the changed attributes from Contact.Hidden, the values that no result
// shows. So nil clears such a value too.
func (c Contact) withAttributes(changes map[string]any) Contact {
	c.Attributes = attributes.Merge(c.Attributes, changes)
	if len(c.Hidden) > 0 && len(changes) > 0 {
		kept := make(map[string]any, len(c.Hidden))
		for name, value := range c.Hidden {
			if _, named := changes[name]; !named {
				kept[name] = value
			}
		}
		c.Hidden = kept
	}
	return c
}

// withOnlyAttributes returns the contact with exactly these attribute values. It removes
// all others, even those that no result shows (Contact.Hidden).
func (c Contact) withOnlyAttributes(values map[string]any) Contact {
	c.Attributes, c.Hidden = attributes.Merge(nil, values), nil
	return c
}

// StoredAttributes returns all attribute values of the contact, including those in
// Contact.Hidden, which no result shows.
func (c Contact) StoredAttributes() map[string]any {
	if len(c.Hidden) == 0 {
		return c.Attributes
	}
	return attributes.Merge(c.Hidden, c.Attributes)
}

// readRegistry reads the definitions of the organization's attributes, by name.
func (wr writer) readRegistry(ctx context.Context, orgID string) (attributes.Registry, error) {
	all, err := wr.Attributes.Attributes(ctx, orgID)
	if err != nil {
		return nil, err
	}
	return attributes.NewRegistry(all), nil
}
