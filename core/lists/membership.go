package lists

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Exactly returns the change that puts a contact on the named lists and on no others, or
// nil if names is nil. It fails with core.CodeValidationFailed if a list is unknown. The
// error names the JSON member in the parameter field.
func (l *Lists) Exactly(ctx context.Context, orgID, field string, names *[]string) (*Change, error) {
	if names == nil {
		return nil, nil
	}
	ids, err := l.resolve(ctx, orgID, field, *names)
	if err != nil {
		return nil, err
	}
	return &Change{Exactly: true, Join: ids}, nil
}

// DirectiveChange returns the change that the directive describes, or nil if d is nil. It
// fails with core.CodeValidationFailed if a list is unknown or the directive contradicts
// itself.
func (l *Lists) DirectiveChange(ctx context.Context, orgID string, d *Directive) (*Change, error) {
	if d == nil {
		return nil, nil
	}
	if d.Set != nil {
		if len(d.Add) > 0 || len(d.Remove) > 0 {
			return nil, core.Invalid("lists", "takes either `set`, or `add` and `remove`, not both")
		}
		return l.Exactly(ctx, orgID, "lists.set", d.Set)
	}
	return l.AddAndRemove(ctx, orgID, "lists.", d.Add, d.Remove)
}

// AddAndRemove returns the change that adds a contact to the lists in joins and removes it
// from the lists in leaves. It fails with core.CodeValidationFailed if a list is unknown or
// named in both. The error names the JSON member: prefix followed by "add" or "remove".
func (l *Lists) AddAndRemove(ctx context.Context, orgID, prefix string, joins, leaves []string) (*Change, error) {
	add, err := l.resolve(ctx, orgID, prefix+"add", joins)
	if err != nil {
		return nil, err
	}
	remove, err := l.resolve(ctx, orgID, prefix+"remove", leaves)
	if err != nil {
		return nil, err
	}
	for _, id := range remove {
		if slices.Contains(add, id) {
			return nil, core.Invalid(prefix+"remove", "names a list that `add` names too")
		}
	}
	return &Change{Join: add, Leave: remove}, nil
}

// resolve returns the sorted ids of the static lists in names, each named by its id or key.
// It fails with core.CodeValidationFailed if a name is no active static list of the
// organization. The error has one field error for each such name.
func (l *Lists) resolve(ctx context.Context, orgID, field string, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	found, err := l.Store.ListsByRef(ctx, orgID, names)
	if err != nil {
		return nil, err
	}
	var ids []string
	var faults []core.FieldError
	for i, name := range names {
		at := slices.IndexFunc(found, func(r Ref) bool { return r.ID == name || r.Key == name })
		if at < 0 {
			faults = append(faults, core.FieldError{Field: fmt.Sprintf("%s.%d", field, i), Reason: "is not a static list of this organization"})
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

// Find returns the active lists with these ids or keys. It skips ids and keys that belong
// to no active list.
func (l *Lists) Find(ctx context.Context, orgID string, names []string) ([]Ref, error) {
	return l.Store.ListsByRef(ctx, orgID, names)
}

// ApplyChange applies a change to the contact's lists and returns the lists afterwards.
// current has the lists before the change. Call ApplyChange in the transaction of the write
// to the contact.
func (l *Lists) ApplyChange(ctx context.Context, orgID, contactID string, current []Ref, change *Change) ([]Ref, error) {
	if current == nil {
		current = []Ref{} // a new contact
	}
	if change == nil {
		return current, nil
	}
	// Use the present time and not the start of the call, because the call may have waited
	// for a lock. The membership log is read in the order of these times. For the same reason,
	// current may lack lists that another call has added, which only an exact change removes.
	var err error
	if now := l.Clock(); change.Exactly {
		_, _, err = l.Members.ReplaceMembership(ctx, orgID, contactID, change.Join, now)
	} else {
		_, _, err = l.Members.ChangeMembership(ctx, orgID, contactID, change.Join, change.Leave, now)
	}
	if err != nil {
		return nil, err
	}
	return l.Members.ContactLists(ctx, orgID, contactID)
}

// LeaveAll removes a contact from all static lists and returns the number of these lists.
func (l *Lists) LeaveAll(ctx context.Context, orgID, contactID string, at time.Time) (int, error) {
	leftLists, _, err := l.Members.ReplaceMembership(ctx, orgID, contactID, nil, at)
	return len(leftLists), err
}
