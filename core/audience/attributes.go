package audience

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
)

// maxAttributeText is in bytes. It keeps one contact a small row.
const maxAttributeText = 4096

// enoughFaults are named in one refusal.
const enoughFaults = 20

// registry is an organization's attributes by name.
type registry map[string]Attribute

func (a *Audience) registry(ctx context.Context, orgID string) (registry, error) {
	all, err := a.Store.Attributes(ctx, orgID)
	if err != nil {
		return nil, err
	}
	r := make(registry, len(all))
	for _, attribute := range all {
		r[attribute.Name] = attribute
	}
	return r, nil
}

// coerce checks values against the registry and brings them to the registered
// type. nil values (JSON null) stay nil: they clear, whatever the registry says of the
// name. So does a value of a registered attribute that equals the one in held, which is
// what the contact has. It fails with
// attribute_validation_failed and one entry for each attribute that is unknown or
// does not fit. The rules:
//
//	string    a string as it is; a number or boolean as its JSON text
//	number    a number from -1e100 to 1e100; a string that is one in JSON's spelling,
//	          if a float64 carries it
//	bool      true or false; the strings "true" and "false"
//	datetime  RFC 3339 or YYYY-MM-DD (midnight UTC), kept as RFC 3339 in UTC; what
//	          is finer than a microsecond is cut off
//	enum      a string that is one of the registered values
func (r registry) coerce(values, held map[string]any) (map[string]any, error) {
	coerced := make(map[string]any, len(values))
	var faults []core.FieldError
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if len(faults) == enoughFaults {
			break
		}
		value := values[name]
		attribute, known := r[name]
		if value == nil {
			coerced[name] = nil
			continue
		}
		if !known {
			faults = append(faults, core.FieldError{Field: "attributes." + core.Quotable(name, 80), Reason: "is not in the attribute registry" + r.suggestion(name)})
			continue
		}
		v, reason := attribute.coerce(value)
		if stands, has := held[name]; reason != "" && has && isSameValue(value, stands) {
			v, reason = stands, ""
		}
		if reason != "" {
			faults = append(faults, core.FieldError{Field: "attributes." + core.Quotable(name, 80), Reason: reason})
			continue
		}
		coerced[name] = v
	}
	if len(faults) == 0 {
		return coerced, nil
	}
	message := "Some attributes do not fit the registry."
	if len(faults) == 1 {
		message = "`" + faults[0].Field + "` " + faults[0].Reason + "."
	}
	refused := &core.Error{Code: core.CodeAttributeValidationFailed, Message: message, Fields: faults}
	return nil, refused.WithCall("audience_get_schema", nil)
}

// isSameValue reports whether a value that was sent is the one that is stored.
func isSameValue(sent, stored any) bool {
	if number, is := sent.(json.Number); is {
		n, err := number.Float64()
		return err == nil && stored == n
	}
	return sent == stored
}

// suggestion names the registered attribute that the caller may have meant.
func (r registry) suggestion(name string) string {
	const tooFar = 3
	best, distance := "", tooFar
	for known := range r {
		d := editDistance(name, known, tooFar)
		if d < distance || d == distance && d < tooFar && known < best {
			best, distance = known, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// coerce returns the value in the attribute's type, or the reason why not.
func (a Attribute) coerce(value any) (any, string) {
	switch a.Type {
	case StringAttribute:
		return coerceString(value)
	case NumberAttribute:
		return coerceNumber(value)
	case BoolAttribute:
		return coerceBool(value)
	case DatetimeAttribute:
		return coerceDatetime(value)
	case EnumAttribute:
		s, ok := value.(string)
		if !ok || !slices.Contains(a.EnumValues, s) {
			return nil, "must be one of " + core.QuotedList(a.EnumValues)
		}
		return s, ""
	}
	return nil, "has no type that can be checked"
}

func coerceString(value any) (any, string) {
	switch v := value.(type) {
	case string:
		if len(v) > maxAttributeText {
			return nil, fmt.Sprintf("must have at most %d bytes", maxAttributeText)
		}
		return v, ""
	case json.Number:
		return v.String(), ""
	case float64: // stored, when the attribute was a number
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
	case float64: // stored
		return withinPredicates(v)
	}
	if !isJSONNumber(text) {
		return nil, "must be a number"
	}
	if !core.IsExactNumber(text) {
		return nil, core.InexactNumber + "; register the attribute as a string for identifiers"
	}
	n, _ := strconv.ParseFloat(text, 64) // what is out of range is infinite
	return withinPredicates(n)
}

// withinPredicates refuses what predicates would take as absent, so that a number that
// is stored is one that counts.
func withinPredicates(n float64) (any, string) {
	if !isWithinPredicates(n) {
		return nil, fmt.Sprintf("must be a number from %g to %g", -predicate.MaxNumber, predicate.MaxNumber)
	}
	return n, ""
}

func isWithinPredicates(n float64) bool { return math.Abs(n) <= predicate.MaxNumber }

// isJSONNumber keeps out what ParseFloat takes beyond JSON: hex, Inf, NaN, "1_0".
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
		if t, is := instant(layout, s); is {
			return t.Format(time.RFC3339Nano), ""
		}
	}
	return nil, "must be a date and time in RFC 3339, or a date as YYYY-MM-DD"
}

// instant reads a time whose year in UTC has four digits, without which it could
// not be read back.
func instant(layout, s string) (time.Time, bool) {
	t, err := time.Parse(layout, s)
	t = t.UTC().Truncate(time.Microsecond)
	return t, err == nil && t.Year() > 0 && t.Year() < 10000
}

// merge lays changes over values: nil clears, everything else replaces.
func merge(values, changes map[string]any) map[string]any {
	merged := make(map[string]any, len(values)+len(changes))
	for name, value := range values {
		merged[name] = value
	}
	for name, value := range changes {
		if value == nil {
			delete(merged, name)
			continue
		}
		merged[name] = value
	}
	return merged
}

// editDistance is the Levenshtein distance of two short identifiers, or limit+1
// when it is larger than limit.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit || len(a) > 64 {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
