package rest

import (
	"bytes"
	"encoding/json"
)

// object is a JSON object whose members keep their order, so that the document
// has the order of the routes and the same bytes every time.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
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
