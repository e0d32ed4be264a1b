package handlebars

// Variable is a name that a template reads from the data of the message.
type Variable struct {
	// Name is the path from the root of the data, such as order.number.
	Name string
	// Required is true if the variable is printed outside of all blocks.
	Required bool
}

// Variables returns the variables in the order of their first use. They include ../x and
// @root.x inside each and with if these mean the data of the message. They do not include
// members of the values of each and with, nor @index and other such names.
func (t *Template) Variables() []Variable { return t.variables }

// variableList collects variables by name.
type variableList struct {
	found []Variable
	index map[string]int32
}

// note records the use of a path and returns the index of its variable, or -1 if it is
// none. scopes is the number of each and with around the path.
func (l *variableList) note(p path, scopes int, required bool) int32 {
	ofMessage := p.from == fromRoot || p.from == fromContext && p.up == scopes
	if !ofMessage || len(p.segments) == 0 {
		return -1
	}
	name := p.written()
	at, known := l.index[name]
	if !known {
		at = int32(len(l.found))
		l.index[name] = at
		l.found = append(l.found, Variable{Name: name})
	}
	l.found[at].Required = l.found[at].Required || required
	return at
}
