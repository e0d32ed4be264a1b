package attributes

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
)

// maxText is the maximum length of a string value in bytes. It limits the size of a
// contact's row in the database.
const maxText = 4096

// coerce converts a value to the attribute's type. If that is impossible, it returns the
// reason as the second result, which is "" otherwise.
func (a Attribute) coerce(value any) (any, string) {
	switch a.Type {
	case String:
		return coerceString(value)
	case Number:
		return coerceNumber(value)
	case Bool:
		return coerceBool(value)
	case Datetime:
		return coerceDatetime(value)
	case Enum:
		s, ok := value.(string)
		if !ok || !slices.Contains(a.EnumValues, s) {
			return nil, "must be one of " + core.QuotedList(a.EnumValues)
		}
		return s, ""
	}
	return nil, "has an attribute type that Mailhelm does not know"
}

func coerceString(value any) (any, string) {
	switch v := value.(type) {
	case string:
		if len(v) > maxText {
			return nil, fmt.Sprintf("must have at most %d bytes", maxText)
		}
		return v, ""
	case json.Number:
		return v.String(), ""
	case float64: // a stored number; a number that a caller sends is a json.Number
		b, err := json.Marshal(v)
		if err == nil {
			return string(b), ""
		}
	case bool:
		return strconv.FormatBool(v), ""
	}
	return nil, "must be a string"
}

func coerceNumber(value any) (any, string) {
	var text string
	switch v := value.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = v
	case float64: // a stored number; a number that a caller sends is a json.Number
		return limitNumber(v)
	}
	if !isJSONNumber(text) {
		return nil, "must be a number"
	}
	if !core.IsExactNumber(text) {
		return nil, core.InexactNumber + "; register the attribute as a string for identifiers"
	}
	// ParseFloat returns infinity for a number out of range, and limitNumber refuses
	// infinity
	n, _ := strconv.ParseFloat(text, 64)
	return limitNumber(n)
}

// limitNumber refuses numbers that predicates would treat as absent, so that predicates
// find every stored number.
func limitNumber(n float64) (any, string) {
	if !isWithinPredicates(n) {
		return nil, fmt.Sprintf("must be a number from %g to %g", -predicate.MaxNumber, predicate.MaxNumber)
	}
	return n, ""
}

func isWithinPredicates(n float64) bool { return math.Abs(n) <= predicate.MaxNumber }

// isJSONNumber reports whether s is a number in JSON syntax. ParseFloat also accepts other
// spellings: hexadecimal numbers, Inf, NaN and "1_0".
func isJSONNumber(s string) bool {
	return strings.Trim(s, "0123456789+-.eE") == "" && json.Valid([]byte(s))
}

func coerceBool(value any) (any, string) {
	switch value {
	case true, "true":
		return true, ""
	case false, "false":
		return false, ""
	}
	return nil, "must be true or false"
}

func coerceDatetime(value any) (any, string) {
	s, _ := value.(string)
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, is := parseInstant(layout, s); is {
			return t.Format(time.RFC3339Nano), ""
		}
	}
	return nil, "must be a date and time in RFC 3339, or a date as YYYY-MM-DD"
}

// parseInstant parses a time by the layout and returns it in UTC, truncated to
// microseconds. It returns false for a text in another layout. It also returns false for a
// year outside of 1 to 9999, because such a time cannot be read back.
func parseInstant(layout, s string) (time.Time, bool) {
	t, err := time.Parse(layout, s)
	t = t.UTC().Truncate(time.Microsecond)
	return t, err == nil && t.Year() > 0 && t.Year() < 10000
}
