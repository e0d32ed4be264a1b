package core

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/invopop/jsonschema"
)

// Rows are items of a request that are answered one by one. They are declared by a
// member of a slice of json.RawMessage: a row may be any JSON, so that one that is wrong
// fails alone, and its own package reads it with [ReadRow]. Where rows cannot be
// separated, because the text is no JSON or no UTF-8, the request is refused.
// [RowsSchema] is what such a type returns from JSONSchema.

// RowMember documents a member of a row. The description names the type, since the schema
// checks nothing.
type RowMember struct{ Name, Description string }

// RowsSchema describes least to most rows. It checks their number only, so that a caller who
// validates by it sends a request in spite of one invalid row.
func RowsSchema(least, most uint64, row string, members []RowMember) *jsonschema.Schema {
	described := jsonschema.NewProperties()
	for _, m := range members {
		described.Set(m.Name, &jsonschema.Schema{Description: m.Description})
	}
	return &jsonschema.Schema{
		Type: "array", MinItems: &least, MaxItems: &most,
		Items: &jsonschema.Schema{Properties: described, Description: row},
	}
}

// ReadRow checks a row as [AnyPaths.CheckJSON] does and calls take with each member, until
// take fails. It fails with validation_failed and at least one entry in Fields; the field ""
// is the row itself. Values are valid only until take returns.
//
// encoding/json alone would accept "Email" for "email" and describe an unknown member in its
// own words.
func ReadRow(row []byte, places *AnyPaths, take func(name string, value []byte) error) error {
	if text := bytes.TrimLeft(row, " \t\r\n"); len(text) == 0 || text[0] != '{' {
		return Invalid("", "is no object")
	}
	if err := places.CheckJSON(row); err != nil {
		return err
	}
	return ReadMembers(row, take)
}

// ErrNoObject is returned by [ReadMembers] for a JSON value that is not an object.
var ErrNoObject = errors.New("is no JSON object")

// ReadMembers calls take with each member of an object until take fails. The text has passed
// CheckJSON, so no member is named twice.
func ReadMembers(object []byte, take func(name string, value []byte) error) error {
	d := rowDecoders.Get().(*jsontext.Decoder)
	d.Reset(bytes.NewBuffer(object), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	defer func() {
		d.Reset(noInput) // or the pool would keep the row
		rowDecoders.Put(d)
	}()
	if d.PeekKind() != '{' {
		return ErrNoObject
	}
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() != '}' {
		var name jsontext.Token
		if name, err = d.ReadToken(); err != nil {
			break
		}
		spelled := name.String() // the token is gone with the next one
		var value jsontext.Value
		if value, err = d.ReadValue(); err == nil {
			err = take(spelled, value)
		}
	}
	if _, ours := errors.AsType[*Error](err); err == nil || ours {
		return err
	}
	refused := Invalid("", "cannot be read")
	refused.Err = err
	return refused
}

// rowDecoders are reused, like the decoders of whole requests.
var rowDecoders = sync.Pool{New: func() any { return jsontext.NewDecoder(noInput) }}

// TakeText reads a string, or null as nil.
func TakeText(name string, value []byte, into **string) error {
	switch value[0] {
	case '"':
		text, err := jsontext.AppendUnquote(nil, value)
		if err != nil {
			return Invalid(name, "is not valid JSON at this member")
		}
		s := string(text)
		*into = &s
	case 'n':
		*into = nil
	default:
		return Invalid(name, "must be a string")
	}
	return nil
}

// TakeAs reads a value as encoding/json does, and numbers as json.Number. kind names the
// expected type in a refusal.
func TakeAs(name string, value []byte, into any, kind string) error {
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	err := decoder.Decode(into)
	if refusal, ours := errors.AsType[*Error](err); ours {
		return refusal
	}
	if err != nil {
		return Invalid(name, "must be "+kind)
	}
	return nil
}

// UnknownMember refuses a member that a row does not have.
func UnknownMember(name string, known []RowMember) error {
	names := make([]string, len(known))
	for i, m := range known {
		names[i] = m.Name
	}
	return Invalid(Quotable(name, 64), "is not known here; known are "+strings.Join(names, ", "))
}
