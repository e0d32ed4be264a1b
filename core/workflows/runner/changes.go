package runner

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
)

// changes has the changes of contacts by the steps of a batch, by contact.
type changes map[string]*change

// change is the change of one contact.
type change struct {
	emailKey   string
	attributes map[string]any
	lists      []string
}

// of returns the change of a contact with the address.
func (c *changes) of(contactID, email string) *change {
	if *c == nil {
		*c = changes{}
	}
	if (*c)[contactID] == nil {
		(*c)[contactID] = &change{emailKey: core.EmailKey(email), attributes: map[string]any{}}
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

// store stores the changes in the order of the addresses of contacts, as bulk writes of contacts
// do. So two transactions that change the same contacts cannot deadlock.
func (c changes) store(ctx context.Context, contacts Contacts, orgID string) error {
	ids := slices.SortedFunc(maps.Keys(c), func(a, b string) int { return strings.Compare(c[a].emailKey, c[b].emailKey) })
	for _, id := range ids {
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
