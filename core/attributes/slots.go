package attributes

import "time"

// The kinds of slots: the first letter of their names.
const (
	TextSlots    = "s" // strings and enums
	NumberSlots  = "n" // numbers; booleans as 0 and 1
	InstantSlots = "t" // datetimes, in microseconds since 1970
)

// SlotKind returns the kind of slot that holds the attribute's values.
func (a Attribute) SlotKind() string {
	switch a.Type {
	case Number, Bool:
		return NumberSlots
	case Datetime:
		return InstantSlots
	}
	return TextSlots
}

// SlotValue returns a stored value as a slot holds it: a string, float64 or int64. It
// returns nil for an absent value and for one that is not of the attribute's type;
// predicates find neither.
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
