package rest

import (
	"encoding/json"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// object is a JSON object whose members keep their order. So the document has the order of
// the routes, and the same bytes every time.
type object []member

// member is one member of an object. Its value is any value that package json encodes, or an
// object or a list of objects, which keep their order.
type member struct {
	name  string
	value any
}

// MarshalJSONTo writes the members in order. It writes to the encoder of the whole
// document: a MarshalJSON would be copied once for every level that it is below the top.
func (o object) MarshalJSONTo(to *jsontext.Encoder) error {
	if err := to.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, m := range o {
		if err := to.WriteToken(jsontext.String(m.name)); err != nil {
			return err
		}
		if err := jsonv2.MarshalEncode(to, m.value); err != nil {
			return err
		}
	}
	return to.WriteToken(jsontext.EndObject)
}

func (o object) with(name string, value any) object { return append(o, member{name, value}) }

// reference returns a reference to a component.
func reference(kind, name string) object {
	return object{{"$ref", "#/components/" + kind + "/" + name}}
}

// property is one member of an operation's input schema, as the schema has it.
type property struct {
	name     string
	schema   json.RawMessage
	required bool
}

// description returns the property's description.
func (p property) description() string {
	var s struct {
		Description string `json:"description"`
	}
	_ = json.Unmarshal(p.schema, &s) // a schema of ours; without one, nothing is said
	return s.Description
}
