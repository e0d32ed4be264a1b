package lists

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/invopop/jsonschema"
	"github.com/mailhelm/mailhelm/core"
)

// Names has the static lists that a contact is to be on. Each is an id, a key, or an object
// in the form in which reads of a contact return a list. nil means that the caller did not
// send the member.
type Names []Name

// Name identifies one static list. A caller sends it as a string, which sets Ref, or as an
// object, which also sets Key and Name.
type Name struct {
	Ref       string // id or key
	Key, Name string
}

// UnmarshalJSON decodes either form.
func (n *Name) UnmarshalJSON(b []byte) error {
	if b = bytes.TrimSpace(b); b[0] != '{' {
		return json.Unmarshal(b, &n.Ref)
	}
	var shown Ref
	if err := json.Unmarshal(b, &shown); err != nil {
		return err
	}
	*n = Name{Ref: shown.ID, Key: shown.Key, Name: shown.Name}
	return nil
}

// JSONSchema describes an array of strings or objects, and null.
func (Names) JSONSchema() *jsonschema.Schema {
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

// refs returns the ids or keys of the lists in n, or nil if n is nil.
func (n *Names) refs() *[]string {
	if n == nil {
		return nil
	}
	refs := make([]string, len(*n))
	for i, name := range *n {
		refs[i] = name.Ref
	}
	return &refs
}

// isShown reports whether the caller sent an object, with a key or a name, for at least one
// of the lists. Otherwise every list was sent as a string, or as an object with only an id.
func (n *Names) isShown() bool {
	return n != nil && slices.ContainsFunc(*n, func(name Name) bool { return name.Key != "" || name.Name != "" })
}

// ExactChange returns the change that puts a contact on exactly the named lists, nil if
// names is nil. It fails with core.CodeValidationFailed if a list is unknown, or if an
// object in names has another key or name than its list.
func (l *Lists) ExactChange(ctx context.Context, orgID, field string, names *Names) (*Change, error) {
	edit, err := l.Exactly(ctx, orgID, field, names.refs())
	if err != nil || !names.isShown() {
		return edit, err
	}
	found, err := l.Store.ListsByRef(ctx, orgID, *names.refs())
	if err != nil {
		return nil, err
	}
	var faults []core.FieldError
	for i, name := range *names {
		at := slices.IndexFunc(found, func(r Ref) bool { return r.ID == name.Ref || r.Key == name.Ref })
		if at < 0 {
			continue // deleted at this moment
		}
		for _, member := range []struct{ name, sent, held string }{{"key", name.Key, found[at].Key}, {"name", name.Name, found[at].Name}} {
			if member.sent != "" && member.sent != member.held {
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
