package attributes

// Exception is a name under which the stored values of contacts may differ from the values
// that reads show. It exists because the attribute was renamed, deleted or given another
// type after the values were stored.
type Exception struct {
	// Name is the name under which the values are stored. Present is the attribute's present
	// name: Name if only its type changed, "" if it was deleted.
	Name, Present string
	// Type is the attribute's present type, to which reads convert the values.
	Type Type
}

// Show returns the stored values of one contact as reads show them. hidden has the values
// that reads omit: values of deleted attributes, and values that cannot be converted to the
// attribute's type. Show does not modify stored.
func Show(stored map[string]any, exceptions []Exception) (shown, hidden map[string]any) { //nolint:nonamedreturns // says which
	shown = stored
	cloned := false
	take := func(name string) any {
		if !cloned {
			shown, cloned = Merge(stored, nil), true
		}
		value := shown[name]
		delete(shown, name)
		return value
	}
	hide := func(name string, value any) {
		if hidden == nil {
			hidden = map[string]any{}
		}
		hidden[name] = value
	}
	for _, e := range exceptions {
		if _, exists := shown[e.Name]; !exists || e.Present == e.Name {
			continue
		}
		value := take(e.Name)
		if _, taken := shown[e.Present]; e.Present == "" {
			hide(e.Name, value)
		} else if !taken { // a value already under the present name is newer, so it is not replaced
			shown[e.Present] = value
		}
	}
	for _, e := range exceptions {
		if _, exists := shown[e.Name]; !exists || e.Present != e.Name {
			continue
		}
		value := take(e.Name)
		if fitting, fits := (Attribute{Type: e.Type}).Settle(value); fits {
			shown[e.Name] = fitting
		} else {
			hide(e.Name, value)
		}
	}
	return shown, hidden
}
