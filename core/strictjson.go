package core

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxJSONDepth is how deep arrays and objects may nest in anything a caller sends.
const MaxJSONDepth = 64

// CheckJSON accepts exactly one JSON value: valid UTF-8, no member named twice in
// an object, no NUL character in a string (PostgreSQL cannot hold one), no number that a
// float64 does not carry, nesting of at most MaxJSONDepth, nothing after it. It fails with validation_failed and says
// where. It reads the value once and keeps nothing.
func CheckJSON(raw []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw))
	mayHoldNUL := bytes.Contains(raw, []byte(`\u0000`))
	for {
		token, err := d.ReadToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return jsonError(err)
		}
		if mayHoldNUL && token.Kind() == '"' && strings.ContainsRune(token.String(), 0) {
			return Invalid(pointerPath(string(d.StackPointer())), "holds a NUL character")
		}
		if token.Kind() == '0' && !isReasonable(token.String()) {
			return Invalid(pointerPath(string(d.StackPointer())), "is a number that a float64 does not carry: it has too many digits or is out of range; write an identifier as a string")
		}
		if d.StackDepth() > MaxJSONDepth {
			return Invalid("", "is nested deeper than 64 levels")
		}
		if d.StackDepth() == 0 && len(bytes.TrimSpace(raw[d.InputOffset():])) > 0 {
			return Invalid("", "has something after the JSON value")
		}
	}
	if d.InputOffset() == 0 {
		return Invalid("", "is empty where a JSON value is expected")
	}
	return nil
}

const (
	maxNumber    = 64 // characters; the longest shortest form of a float64 has 24
	sureDigits   = 15 // any decimal with so many significant digits survives float64
	wholeFloat64 = 64
)

// isReasonable accepts the numbers that a float64 carries: within its range, and
// with no more digits than it gives back (RFC 7493 section 2.2). Others would be
// changed on the way without a word, an identifier of 20 digits for one, and two
// different ones would have the same canonical form. It also keeps out what takes
// seconds to compare: a million digits, or the exponent 999999.
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
		return digits == "" // else it is too small to be told from zero
	}
	return len(digits) <= sureDigits || digits == significantDigits(strconv.FormatFloat(f, 'e', -1, wholeFloat64))
}

// significantDigits of 0.00120e7 are 12.
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

// CanonicalJSON is the canonical form of a JSON value (RFC 8785): the same for
// two texts that mean the same, whatever their spacing, member order or number
// spelling. The input must have passed CheckJSON.
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

// pointerPath writes a JSON pointer (RFC 6901) as the dotted path that the
// members of `errors` use, clipped, because the names in it are the caller's.
func pointerPath(pointer string) string {
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, part := range parts {
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		parts[i] = Quotable(part, 80)
	}
	return strings.Join(parts, ".")
}

// decodeError is for what the schema lets through and the Go type does not; the
// custom UnmarshalJSON of a type may return a *Error of its own.
func decodeError(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return Invalid(t.Field, "has the wrong type")
	}
	return Invalid("", "does not fit the schema")
}
