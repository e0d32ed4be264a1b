package attributes

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/mailhelm/mailhelm/core"
)

// maxFaults is the maximum number of faults that one refusal lists.
const maxFaults = 20

// Registry maps the names of an organization's attributes to the attributes.
type Registry map[string]Attribute

// NewRegistry returns a Registry of the attributes.
func NewRegistry(all []Attribute) Registry {
	r := make(Registry, len(all))
	for _, attribute := range all {
		r[attribute.Name] = attribute
	}
	return r
}

// Coerce checks values against the registry and converts them to the registered types. nil
// (JSON null) stays nil and clears a value, whether or not its name is registered. held has
// the contact's stored values: a value that does not fit its type is accepted if it equals
// the stored one. Coerce fails with core.CodeAttributeValidationFailed and one entry for
// each attribute that is unknown or does not fit. The rules:
//
//	string    a string as it is; a number or boolean as its JSON text
//	number    a number from -1e100 to 1e100, or a string that is such a number in JSON
//	          syntax; a float64 must hold the number exactly
//	bool      true or false; the strings "true" and "false"
//	datetime  RFC 3339 or YYYY-MM-DD (midnight UTC), stored as RFC 3339 in UTC and
//	          truncated to microseconds
//	enum      a string that is one of the registered values
func (r Registry) Coerce(values, held map[string]any) (map[string]any, error) {
	coerced := make(map[string]any, len(values))
	var faults []core.FieldError
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if len(faults) == maxFaults {
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
		if present, has := held[name]; reason != "" && has && isSameValue(value, present) {
			v, reason = present, ""
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
		message = core.InvalidFields(faults[0]).Message
	}
	refused := &core.Error{Code: core.CodeAttributeValidationFailed, Message: message, Fields: faults}
	return nil, refused.WithCall("audience_get_schema", nil)
}

// isSameValue reports whether a value that a caller sent equals the stored value.
func isSameValue(sent, stored any) bool {
	if number, is := sent.(json.Number); is {
		n, err := number.Float64()
		return err == nil && stored == n
	}
	return sent == stored
}

// suggestion returns "; did you mean" with the most similar registered name, for an error
// message. It returns "" if no name is similar.
func (r Registry) suggestion(name string) string {
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

// editDistance returns the Levenshtein distance of two short identifiers, or limit+1
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
