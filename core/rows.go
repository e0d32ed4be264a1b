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

// Rows are the items of a request that are processed separately; a field for them has the
// type []json.RawMessage. A row may be any JSON, so that an invalid row fails alone. The
// package that owns the rows decodes each one with [ReadRow]. If the request is not JSON or
// not UTF-8, its rows cannot be separated, and the whole request is refused. The type of
// the field has a method JSONSchema that returns [RowsSchema].

// RowMember describes a member of a row in the schema. Description includes the type,
// because the schema does not check the content of rows.
type RowMember struct{ Name, Description string }

// RowsSchema returns the schema of an array of rows, with the minimum (least) and maximum
// (most) number of rows. The text in the parameter row describes one row. The schema checks
// only the number of rows, so an invalid row does not make the request invalid.
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

// ReadRow checks one row, which must be a JSON object, as [AnyPaths.CheckJSON] does. It
// then calls take with the name and value of each member, until take fails. Values are
// valid only until take returns. ReadRow fails with validation_failed. The error's Fields
// name at least one member of the row, or "" for the row itself.
//
// encoding/json is not used, because it would accept "Email" for "email", and its errors
// about unknown members are not meant for callers.
func ReadRow(row []byte, places *AnyPaths, take func(name string, value []byte) error) error {
	if text := bytes.TrimLeft(row, " \t\r\n"); len(text) == 0 || text[0] != '{' {
		return Invalid("", "is not an object")
	}
	if err := places.CheckJSON(row); err != nil {
		return err
	}
	return ReadMembers(row, take)
}

// ErrNoObject is the error of [ReadMembers] for a JSON value that is not an object.
var ErrNoObject = errors.New("is not a JSON object")

// ReadMembers calls take with each member of a JSON object until take fails. The text must
// have passed CheckJSON, so that no name occurs twice.
func ReadMembers(object []byte, take func(name string, value []byte) error) error {
	d := rowDecoders.Get().(*jsontext.Decoder)
	d.Reset(bytes.NewBuffer(object), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	defer func() {
		d.Reset(noInput) // the pooled decoder must not keep the row in memory
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
		spelled := name.String() // copied, because the next read invalidates the token
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

// rowDecoders has decoders for reuse: a request may have thousands of rows.
var rowDecoders = sync.Pool{New: func() any { return jsontext.NewDecoder(noInput) }}

// TakeText decodes a JSON string into *into, and null as nil. It fails with
// validation_failed for any other type. name is the member's name in the error.
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

// TakeAs decodes the JSON value of a row's member into *into, as encoding/json does, with
// numbers as json.Number. If the value cannot be decoded, it fails with validation_failed.
// kind describes the expected type in the error message, for example "a string".
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

// UnknownMember returns validation_failed for a member that rows do not have. The error
// lists the known members.
func UnknownMember(name string, known []RowMember) error {
	names := make([]string, len(known))
	for i, m := range known {
		names[i] = m.Name
	}
	return Invalid(Quotable(name, 64), "is unknown; known names are "+strings.Join(names, ", "))
}
