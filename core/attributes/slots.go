package attributes

import "time"

// The kinds of slots, the database columns that hold copies of attribute values for
// predicates. The kind is the first letter of the column's name.
const (
	TextSlots    = "s" // strings and enums
	NumberSlots  = "n" // for numbers, unchanged, and booleans, as 0 and 1
	InstantSlots = "t" // datetimes, in microseconds since 1970
)

// SlotKind returns the kind of slot (database column) that can hold the attribute's values.
func (a Attribute) SlotKind() string {
	switch a.Type {
	case Number, Bool:
		return NumberSlots
	case Datetime:
		return InstantSlots
	}
	return TextSlots
}

// SlotValue returns a stored value in the form in which a slot (database column) holds it:
// a string, float64 or int64. It returns nil if the value is absent or not of the
// attribute's type, because predicates find no such value.
func (a Attribute) SlotValue(stored any) any {
	switch v := stored.(type) {
	case string:
		switch a.castClass() {
		case String:
			return v
		case Datetime:
			if t, is := parseInstant(time.RFC3339Nano, v); is {
				return t.UnixMicro()
			}
		}
	case float64:
		if a.Type == Number && isWithinPredicates(v) {
			return v
		}
	case bool:
		switch {
		case a.Type != Bool:
		case v:
			return 1.0
		default:
			return 0.0
		}
	}
	return nil
}
