package attributes

// Settle brings the stored values of one contact to the registry. A value under a name
// in moved goes to the present name, unless a value is stored there already. A value
// that can be converted to its attribute's type is converted; all others stay. Settle
// reports whether anything changed. It does not change values.
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
			value = present // written after the renaming
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

// Settle converts a stored value to the attribute's type by the rules of
// [Registry.Coerce] and reports whether that is possible. Enum values are not checked:
// the enum may have had others when the value was written.
func (a Attribute) Settle(stored any) (any, bool) {
	if a.castClass() == String {
		a.Type = String
	}
	value, reason := a.coerce(stored)
	return value, reason == ""
}

// Merge lays changes over values and returns the result: nil clears a value, everything
// else replaces it. It changes neither map.
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
