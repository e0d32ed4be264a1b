package core

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxJSONDepth is the maximum number of nested arrays and objects in a request.
const MaxJSONDepth = 64

// CheckJSON accepts exactly one JSON value and nothing after it. The value must be valid
// UTF-8 with at most MaxJSONDepth levels. No object may have two members of one name. No
// string may contain NUL, which PostgreSQL cannot store. A float64 must represent every
// number exactly; see [IsExactNumber]. It fails with validation_failed and the path of the
// fault. It reads the value once and keeps no copy.
func CheckJSON(raw []byte) error {
	return readStrictly(raw, func(r *strictReader) error {
		for {
			if _, err := r.token(); err != nil || r.StackDepth() == 0 {
				return err
			}
		}
	})
}

// decodeJSON checks a JSON text as CheckJSON does and returns its value, with numbers as
// json.Number.
func decodeJSON(raw []byte) (any, error) {
	var value any
	err := readStrictly(raw, func(r *strictReader) error {
		var err error
		value, err = r.value()
		return err
	})
	return value, err
}

// strictReader reads JSON tokens and fails for those that CheckJSON does not allow.
type strictReader struct {
	*jsontext.Decoder
	mayHoldNUL bool
}

// decoders has decoders for reuse: the cache of names that a new decoder allocates would
// be most of the memory that a short request needs.
var decoders = sync.Pool{New: func() any { return jsontext.NewDecoder(noInput) }}

var noInput = strings.NewReader("")

// readStrictly calls read, which reads the one JSON value in raw. It fails if anything
// follows the value.
func readStrictly(raw []byte, read func(*strictReader) error) error {
	d := decoders.Get().(*jsontext.Decoder)
	d.Reset(bytes.NewBuffer(raw))
	defer func() {
		d.Reset(noInput) // the pooled decoder must not keep the request in memory
		decoders.Put(d)
	}()
	if err := read(&strictReader{Decoder: d, mayHoldNUL: bytes.Contains(raw, []byte(`\u0000`))}); err != nil {
		return err
	}
	// Trim only the white space of JSON (RFC 8259 section 2), not the other white space of
	// Unicode.
	if len(bytes.TrimLeft(raw[d.InputOffset():], " \t\r\n")) > 0 {
		return Invalid("", "has something after the JSON value")
	}
	return nil
}

func (r *strictReader) token() (jsontext.Token, error) {
	token, err := r.ReadToken()
	switch {
	case errors.Is(err, io.EOF) && r.InputOffset() == 0:
		return token, Invalid("", "is empty where a JSON value is expected")
	case err != nil:
		return token, jsonError(err)
	case r.mayHoldNUL && token.Kind() == '"' && strings.ContainsRune(token.String(), 0):
		return token, Invalid(pointerPath(string(r.StackPointer())), "holds a NUL character")
	case token.Kind() == '0' && !isReasonable(token.String()):
		return token, Invalid(pointerPath(string(r.StackPointer())), "is a number that a 64-bit float cannot represent: it has too many digits or is out of range; write an identifier as a string")
	case r.StackDepth() > MaxJSONDepth:
		return token, Invalid("", "is nested deeper than 64 levels")
	}
	return token, nil
}

// value reads the next value. It calls itself for nested values; the method token limits
// their depth.
func (r *strictReader) value() (any, error) {
	token, err := r.token()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case '{':
		return r.object()
	case '[':
		return r.array()
	case '"':
		return token.String(), nil
	case '0':
		return json.Number(token.String()), nil
	case 'n':
		return nil, nil
	default:
		return token.Bool(), nil
	}
}

func (r *strictReader) object() (any, error) {
	members := map[string]any{}
	for {
		token, err := r.token()
		if err != nil || token.Kind() == '}' {
			return members, err
		}
		name := token.String()
		if members[name], err = r.value(); err != nil {
			return nil, err
		}
	}
}

func (r *strictReader) array() (any, error) {
	items := []any{}
	for r.PeekKind() != ']' {
		item, err := r.value()
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	_, err := r.token()
	return items, err
}

const (
	maxNumber    = 64 // in characters; a float64 needs at most 24
	sureDigits   = 15 // a float64 preserves every number with at most this many significant digits
	wholeFloat64 = 64
)

// isReasonable reports whether a float64 represents the number exactly: the number is in
// range and has no more digits than a float64 preserves (RFC 7493 section 2.2). A number
// for which it returns false, such as an identifier of 20 digits, would change silently.
// Two different numbers of this kind could have the same canonical form. isReasonable also
// returns false for numbers that take seconds to compare: a million digits, or the exponent
// 999999.
func isReasonable(number string) bool {
	if len(number) > maxNumber {
		return false
	}
	if len(number) <= sureDigits && !strings.ContainsAny(number, "eE") {
		return true
	}
	f, err := strconv.ParseFloat(number, wholeFloat64)
	if err != nil {
		return false
	}
	digits := significantDigits(number)
	if f == 0 {
		return digits == "" // a number other than zero must not become zero as a float64
	}
	return len(digits) <= sureDigits || digits == significantDigits(strconv.FormatFloat(f, 'e', -1, wholeFloat64))
}

// significantDigits returns the significant digits of a JSON number: "12" for 0.00120e7.
func significantDigits(number string) string {
	digits := make([]byte, 0, maxNumber)
	for i := range len(number) {
		c := number[i]
		if c == 'e' || c == 'E' {
			break
		}
		if c >= '0' && c <= '9' {
			digits = append(digits, c)
		}
	}
	return string(bytes.Trim(digits, "0"))
}

// CanonicalJSON returns the canonical form of a JSON value (RFC 8785). Texts of equal
// values have the same form, regardless of white space, member order and number format. The
// input must have passed CheckJSON.
func CanonicalJSON(raw []byte) ([]byte, error) {
	v := jsontext.Value(bytes.Clone(raw))
	if err := v.Canonicalize(); err != nil {
		return nil, jsonError(err)
	}
	return v, nil
}

func jsonError(err error) error {
	if errors.Is(err, jsontext.ErrDuplicateName) {
		reason := "names a member twice"
		if s, ok := errors.AsType[*jsontext.SyntacticError](err); ok && s.JSONPointer != "" {
			return Invalid(pointerPath(string(s.JSONPointer)), reason+" in one object")
		}
		return Invalid("", reason)
	}
	if s, ok := errors.AsType[*jsontext.SyntacticError](err); ok && s.JSONPointer != "" {
		return Invalid(pointerPath(string(s.JSONPointer)), "is not valid JSON at this member")
	}
	return Invalid("", "is not valid JSON")
}

// pointerPath converts a JSON pointer (RFC 6901) to a path with dots, as in
// [FieldError].Field. It shortens long names, because callers choose them.
func pointerPath(pointer string) string {
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, part := range parts {
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		parts[i] = Quotable(part, 80)
	}
	return strings.Join(parts, ".")
}

// decodeError returns validation_failed for a value that the schema accepts and the Go type
// does not. If an UnmarshalJSON method returned an *Error, decodeError returns that error.
func decodeError(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return Invalid(t.Field, "has the wrong type")
	}
	return Invalid("", "does not fit the schema")
}
