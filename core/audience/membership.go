package audience

import (
	"context"
	"fmt"
	"slices"

	"github.com/mailhelm/mailhelm/core"
)

// ListsDirective changes which static lists a contact is on: by adding and
// removing, or by setting the whole membership. Lists are named by id or key.
type ListsDirective struct {
	Add    []string  `json:"add,omitempty" jsonschema:"maxItems=200" jsonschema_description:"Lists to put the contact on."`
	Remove []string  `json:"remove,omitempty" jsonschema:"maxItems=200" jsonschema_description:"Lists to take the contact off."`
	Set    *[]string `json:"set,omitempty" jsonschema:"maxItems=200" jsonschema_description:"Exactly these lists; empty takes the contact off all. Not together with add or remove."`
}

// ListsChange changes which static lists a contact is on, by their ids. A nil ListsChange
// leaves them as they are.
type ListsChange struct {
	// Exactly is true if the contact is on the lists of Join afterwards and on no others.
	Exactly     bool
	Join, Leave []string
}

// apply returns the lists to be on, given those that the contact is on.
func (m ListsChange) apply(current []string) []string {
	if m.Exactly {
		return m.Join
	}
	kept := slices.DeleteFunc(slices.Clone(current), func(id string) bool { return slices.Contains(m.Leave, id) })
	return append(kept, m.Join...)
}

// exactly is the edit to this membership, which field names; nil names leave it untouched.
func (a *Audience) exactly(ctx context.Context, orgID, field string, names *[]string) (*ListsChange, error) {
	if names == nil {
		return nil, nil
	}
	ids, err := a.resolveLists(ctx, orgID, field, *names)
	if err != nil {
		return nil, err
	}
	return &ListsChange{Exactly: true, Join: ids}, nil
}

// directed is the edit a directive asks for.
func (a *Audience) directed(ctx context.Context, orgID string, d *ListsDirective) (*ListsChange, error) {
	if d == nil {
		return nil, nil
	}
	if d.Set != nil {
		if len(d.Add) > 0 || len(d.Remove) > 0 {
			return nil, core.Invalid("lists", "takes either `set`, or `add` and `remove`, not both")
		}
		return a.exactly(ctx, orgID, "lists.set", d.Set)
	}
	return a.addAndRemove(ctx, orgID, "lists.", d.Add, d.Remove)
}

// addAndRemove is the edit that joins some lists and leaves others; prefix stands in
// front of `add` and `remove` where a refusal names them.
func (a *Audience) addAndRemove(ctx context.Context, orgID, prefix string, joins, leaves []string) (*ListsChange, error) {
	add, err := a.resolveLists(ctx, orgID, prefix+"add", joins)
	if err != nil {
		return nil, err
	}
	remove, err := a.resolveLists(ctx, orgID, prefix+"remove", leaves)
	if err != nil {
		return nil, err
	}
	for _, id := range remove {
		if slices.Contains(add, id) {
			return nil, core.Invalid(prefix+"remove", "names a list that `add` names too")
		}
	}
	return &ListsChange{Join: add, Leave: remove}, nil
}

// resolveLists turns names into ids. It fails with validation_failed for each
// name that is no static list of the organization.
func (a *Audience) resolveLists(ctx context.Context, orgID, field string, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	found, err := a.Store.ListsByRef(ctx, orgID, names)
	if err != nil {
		return nil, err
	}
	var ids []string
	var faults []core.FieldError
	for i, name := range names {
		at := slices.IndexFunc(found, func(l ListRef) bool { return l.ID == name || l.Key == name })
		if at < 0 {
			faults = append(faults, core.FieldError{Field: fmt.Sprintf("%s.%d", field, i), Reason: "is no static list of this organization"})
			continue
		}
		ids = append(ids, found[at].ID)
	}
	if faults != nil {
		return nil, core.InvalidFields(faults...).WithCall("lists_list", nil)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// applyMembership carries an edit out and returns the lists the contact is on
// then, which may be none.
func (a *Audience) applyMembership(ctx context.Context, c *core.Call, contact Contact, edit *ListsChange) ([]ListRef, error) {
	lists := contact.Lists
	if lists == nil {
		lists = []ListRef{} // a new contact
	}
	if edit == nil {
		return lists, nil
	}
	current := make([]string, len(lists))
	for i, l := range lists {
		current[i] = l.ID
	}
	org := c.Principal.Org.ID
	// Dated now and not when the call began: it may have waited for its turn since,
	// and the log is read in the order of its dates.
	if _, _, err := a.Store.ReplaceMembership(ctx, org, contact.ID, edit.apply(current), a.Clock()); err != nil {
		return nil, err
	}
	return a.Store.ContactLists(ctx, org, contact.ID)
}
