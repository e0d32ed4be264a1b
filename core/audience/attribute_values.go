package audience

import (
	"slices"
	"time"
)

// SettleAttributes brings the stored values of one contact to the registry: a
// value under a name that moved goes to the present name, unless one stands there
// already; a value that its attribute's type can be made of becomes that type. All
// others stay as they are. It reports whether anything changed; values itself never
// does.
func SettleAttributes(values map[string]any, attributes map[string]Attribute, moved map[string]string) (map[string]any, bool) {
	settled, changed := values, false
	put := func(drop, name string, value any) {
		if !changed {
			settled, changed = merge(values, nil), true
		}
		delete(settled, drop)
		settled[name] = value
	}
	for from, to := range moved {
		value, stands := values[from]
		if !stands {
			continue
		}
		if present, taken := values[to]; taken {
			value = present // written since the attribute has this name
		}
		put(from, to, value)
	}
	for name, value := range settled {
		attribute, known := attributes[name]
		if !known || value == nil {
			continue
		}
		if fitting, fits := attribute.Settle(value); fits && fitting != value {
			put("", name, fitting)
		}
	}
	return settled, changed
}

// Settle is a stored value in the attribute's type, by the rules of coercion, and
// whether it can be had. The values of an enum are not enforced on what is stored:
// it may have had others when it was written.
func (a Attribute) Settle(stored any) (any, bool) {
	if a.castClass() == StringAttribute {
		a.Type = StringAttribute
	}
	value, reason := a.coerce(stored)
	return value, reason == ""
}

// castClass is the type whose values the attribute's are stored as.
func (a Attribute) castClass() AttributeType {
	if a.Type == EnumAttribute {
		return StringAttribute
	}
	return a.Type
}

// StoredLike reports whether the values of both are stored in the same way, so that
// they need no pass when one becomes the other.
func (a Attribute) StoredLike(b Attribute) bool { return a.castClass() == b.castClass() }

// The kinds of slots: the first letter of their names.
const (
	TextSlots    = "s" // strings and enums
	NumberSlots  = "n" // numbers; booleans as 0 and 1
	InstantSlots = "t" // datetimes, in microseconds since 1970
)

// SlotKind is the kind of slot that holds the attribute's values.
func (a Attribute) SlotKind() string {
	switch a.Type {
	case NumberAttribute, BoolAttribute:
		return NumberSlots
	case DatetimeAttribute:
		return InstantSlots
	}
	return TextSlots
}

// SlotValue is a stored value as a slot holds it: a string, float64 or int64. A
// value that is not of the attribute's type has no place there and gives nil, as
// does its absence: predicates know neither.
func (a Attribute) SlotValue(stored any) any {
	switch v := stored.(type) {
	case string:
		switch a.castClass() {
		case StringAttribute:
			return v
		case DatetimeAttribute:
			if t, is := instant(time.RFC3339Nano, v); is {
				return t.UnixMicro()
			}
		}
	case float64:
		if a.Type == NumberAttribute && isWithinPredicates(v) {
			return v
		}
	case bool:
		switch {
		case a.Type != BoolAttribute:
		case v:
			return 1.0
		default:
			return 0.0
		}
	}
	return nil
}

// lostValues are the enum values of before that after does not have.
func lostValues(before, after Attribute) []string {
	var lost []string
	for _, value := range before.EnumValues {
		if !slices.Contains(after.EnumValues, value) {
			lost = append(lost, value)
		}
	}
	return lost
}
