package attributes

// Exception is a name under which stored values of contacts may differ from what reads
// show, because the registry changed after they were written.
type Exception struct {
	// Name is where the values are stored. Present is the name that their attribute has
	// now: the same one when only its type changed, "" when the attribute was deleted.
	Name, Present string
	// Type is the attribute's type.
	Type Type
}

// Show returns the stored values of one contact as reads show them, and those that reads
// leave out: values of deleted attributes, and values that cannot be converted to the
// type of their attribute. It does not change stored.
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
		} else if !taken { // a value under the present name was written after the renaming
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
