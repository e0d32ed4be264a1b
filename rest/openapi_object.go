package rest

import (
	"encoding/json"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// object is a JSON object whose members keep their order. So the OpenAPI document lists
// paths in the order of the routes and always has the same bytes.
type object []member

// member is one member of the JSON type object. Its value may be an object, a list of
// objects, or any other value that package json can encode.
type member struct {
	name  string
	value any
}

// MarshalJSONTo writes the members in order, directly to the encoder of the whole document.
// The output of a MarshalJSON method would be copied once for every level of nesting.
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

// reference returns a reference to the component of the OpenAPI document with this kind,
// such as "schemas", and this name.
func reference(kind, name string) object {
	return object{{"$ref", "#/components/" + kind + "/" + name}}
}

// property is one member of an operation's input with its JSON schema.
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
	_ = json.Unmarshal(p.schema, &s) // the schema is generated, so this cannot fail
	return s.Description
}
