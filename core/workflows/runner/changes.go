package runner

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
)

// changes has the changes of contacts by the steps of a batch, by contact.
type changes map[string]*change

// change is the change of one contact.
type change struct {
	attributes map[string]any
	lists      []string
}

// of returns the change of a contact.
func (c *changes) of(contactID string) *change {
	if *c == nil {
		*c = changes{}
	}
	if (*c)[contactID] == nil {
		(*c)[contactID] = &change{attributes: map[string]any{}}
	}
	return (*c)[contactID]
}

func (c *change) set(a *engine.Assignment) { c.attributes[a.Attribute] = storedValue(a.Value) }

// storedValue returns a value in the form in which contacts have it.
func storedValue(v predicate.Value) any {
	switch v.Type {
	case predicate.Number:
		return v.Number
	case predicate.Bool:
		return v.Bool
	case predicate.Datetime:
		return time.UnixMicro(v.Moment.Micros).UTC().Format(time.RFC3339Nano)
	}
	return v.Text
}

// store stores the changes in the order of the ids of contacts, so that two batches that change
// the same contacts do not wait for each other.
func (c changes) store(ctx context.Context, contacts Contacts, orgID string) error {
	for _, id := range slices.Sorted(maps.Keys(c)) {
		if of := c[id]; len(of.attributes) > 0 {
			if err := contacts.SetAttributes(ctx, orgID, id, of.attributes); err != nil {
				return err
			}
		}
		if of := c[id]; len(of.lists) > 0 {
			if err := contacts.AddToLists(ctx, orgID, id, of.lists); err != nil {
				return err
			}
		}
	}
	return nil
}
