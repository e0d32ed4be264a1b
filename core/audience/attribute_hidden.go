package audience

// AttributeException is a name under which stored values of contacts may not be what
// reads show, because the registry changed after they were written.
type AttributeException struct {
	// Name is where the values are stored. Present is the name that their attribute has
	// now, the same one when only its type is another, "" when it was deleted.
	Name, Present string
	// Type is the attribute's.
	Type AttributeType
}

// ShowAttributes returns the stored values of one contact as reads show them, and those
// that they leave out: values of deleted attributes, and values that cannot be made
// into the type of their attribute. Nothing of stored changes.
func ShowAttributes(stored map[string]any, exceptions []AttributeException) (shown, hidden map[string]any) { //nolint:nonamedreturns // says which
	shown = stored
	cloned := false
	take := func(name string) any {
		if !cloned {
			shown, cloned = merge(stored, nil), true
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
		if _, stands := shown[e.Name]; !stands || e.Present == e.Name {
			continue
		}
		value := take(e.Name)
		if _, taken := shown[e.Present]; e.Present == "" {
			hide(e.Name, value)
		} else if !taken { // else it was written since the attribute has this name
			shown[e.Present] = value
		}
	}
	for _, e := range exceptions {
		if _, stands := shown[e.Name]; !stands || e.Present != e.Name {
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

// withAttributes lays changes over the contact's values. What it names is hidden no
// longer, so that null clears also a value that no read shows.
func (c Contact) withAttributes(changes map[string]any) Contact {
	c.Attributes = merge(c.Attributes, changes)
	if len(c.Hidden) > 0 && len(changes) > 0 {
		kept := make(map[string]any, len(c.Hidden))
		for name, value := range c.Hidden {
			if _, named := changes[name]; !named {
				kept[name] = value
			}
		}
		c.Hidden = kept
	}
	return c
}

// withOnlyAttributes gives the contact these values and no others, hidden ones included.
func (c Contact) withOnlyAttributes(values map[string]any) Contact {
	c.Attributes, c.Hidden = merge(nil, values), nil
	return c
}

// StoredAttributes are all values of the contact, hidden ones included.
func (c Contact) StoredAttributes() map[string]any {
	if len(c.Hidden) == 0 {
		return c.Attributes
	}
	return merge(c.Hidden, c.Attributes)
}
