package rest

import (
	"bytes"
	"encoding/json"
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

// MarshalJSON writes the members in order. It writes nested objects itself: each call of
// json.Marshal checks and copies its result, so an object would be copied once for every
// level that it is below the top.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	if err := appendValue(&b, o); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// appendValue appends the JSON of a value of the document.
func appendValue(b *bytes.Buffer, value any) error {
	switch v := value.(type) {
	case object:
		return appendObject(b, v)
	case []object:
		return appendObjects(b, v)
	}
	plain, err := json.Marshal(value)
	b.Write(plain)
	return err
}

// appendObject writes an object as JSON, with its members in order. It fails for a value
// that package json cannot encode.
func appendObject(b *bytes.Buffer, o object) error {
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return err
		}
		b.Write(name)
		b.WriteByte(':')
		if err := appendValue(b, m.value); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// appendObjects writes a list of objects as JSON.
func appendObjects(b *bytes.Buffer, objects []object) error {
	b.WriteByte('[')
	for i, o := range objects {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := appendObject(b, o); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

// with returns the object with a member appended.
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
