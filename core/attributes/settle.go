package attributes

// Settle returns the stored values of one contact, adapted to changes of the registry.
// moved maps old names of attributes to new ones. A value moves to the new name; if that
// name already has a value, the old value is dropped. Values that can be converted to the
// registered type are converted, and all others are kept. The second result reports whether
// a value changed. Settle does not modify its arguments.
func Settle(values map[string]any, registered map[string]Attribute, moved map[string]string) (map[string]any, bool) {
	settled, changed := values, false
	put := func(drop, name string, value any) {
		if !changed {
			settled, changed = Merge(values, nil), true
		}
		delete(settled, drop)
		settled[name] = value
	}
	for from, to := range moved {
		value, exists := values[from]
		if !exists {
			continue
		}
		if present, taken := values[to]; taken {
			value = present // was written after the renaming, so it is newer
		}
		put(from, to, value)
	}
	for name, value := range settled {
		attribute, known := registered[name]
		if !known || value == nil {
			continue
		}
		if fitting, fits := attribute.Settle(value); fits && fitting != value {
			put("", name, fitting)
		}
	}
	return settled, changed
}

// Settle converts a stored value to the attribute's type by the rules of [Registry.Coerce],
// and reports whether that is possible. For an enum it accepts any string, because the enum
// may have had other values when the value was stored.
func (a Attribute) Settle(stored any) (any, bool) {
	if a.castClass() == String {
		a.Type = String
	}
	value, reason := a.coerce(stored)
	return value, reason == ""
}

// Merge returns values with changes applied: a nil in changes removes the value, any other
// value replaces it. It modifies neither map.
func Merge(values, changes map[string]any) map[string]any {
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
