package audience

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/invopop/jsonschema"
	"github.com/mailhelm/mailhelm/core"
)

// ListNames are the lists that a contact shall be on: each an id or a key, or an object
// as a read of a contact shows it. nil means that nothing was said.
type ListNames []ListName

// ListName names one list. Key and Name are "" where the caller did not send an object.
type ListName struct {
	Ref       string // id or key
	Key, Name string
}

// UnmarshalJSON reads either form of a list.
func (n *ListName) UnmarshalJSON(b []byte) error {
	if b = bytes.TrimSpace(b); b[0] != '{' {
		return json.Unmarshal(b, &n.Ref)
	}
	var shown ListRef
	if err := json.Unmarshal(b, &shown); err != nil {
		return err
	}
	*n = ListName{Ref: shown.ID, Key: shown.Key, Name: shown.Name}
	return nil
}

// JSONSchema describes both forms, and null.
func (ListNames) JSONSchema() *jsonschema.Schema {
	text := &jsonschema.Schema{Type: "string"}
	shown := jsonschema.NewProperties()
	for _, name := range []string{"id", "key", "name"} {
		shown.Set(name, text)
	}
	most := uint64(200)
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{
		{Type: "array", MaxItems: &most, Items: &jsonschema.Schema{OneOf: []*jsonschema.Schema{
			text, {Type: "object", Properties: shown, Required: []string{"id"}, AdditionalProperties: jsonschema.FalseSchema},
		}}},
		{Type: "null"},
	}}
}

// refs are the ids and keys; nil for nil names.
func (n *ListNames) refs() *[]string {
	if n == nil {
		return nil
	}
	refs := make([]string, len(*n))
	for i, name := range *n {
		refs[i] = name.Ref
	}
	return &refs
}

// exactlyNamed is exactly for names that may be objects. It fails with validation_failed
// where a key or a name is not that of the list.
func (a *Audience) exactlyNamed(ctx context.Context, orgID, field string, names *ListNames) (*ListsChange, error) {
	edit, err := a.exactly(ctx, orgID, field, names.refs())
	if err != nil || names == nil || !slices.ContainsFunc(*names, func(n ListName) bool { return n.Key != "" || n.Name != "" }) {
		return edit, err
	}
	lists, err := a.Store.ListsByRef(ctx, orgID, *names.refs())
	if err != nil {
		return nil, err
	}
	var faults []core.FieldError
	for i, name := range *names {
		at := slices.IndexFunc(lists, func(l ListRef) bool { return l.ID == name.Ref || l.Key == name.Ref })
		if at < 0 {
			continue // deleted at this moment
		}
		for _, member := range []struct{ name, said, held string }{{"key", name.Key, lists[at].Key}, {"name", name.Name, lists[at].Name}} {
			if member.said != "" && member.said != member.held {
				faults = append(faults, core.FieldError{
					Field: fmt.Sprintf("%s.%d.%s", field, i, member.name), Reason: "is not the " + member.name + " of this list; leave it out",
				})
			}
		}
	}
	if faults != nil {
		return nil, core.InvalidFields(faults...)
	}
	return edit, nil
}
