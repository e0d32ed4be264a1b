package handlebars

import "github.com/mailhelm/mailhelm/core/htmlcontext"

// print executes opValue.
func (e *execution) print(o *operation) error {
	start := len(e.dst)
	if err := e.append(e.lookup(o), o.escape, 0); err != nil {
		return err
	}
	if len(e.dst) > start {
		return nil
	}
	if o.variable >= 0 && e.blank != nil {
		e.blank[o.variable] = true
	}
	if o.escape&htmlcontext.EscapeNotEmpty != 0 {
		return e.appendText(htmlcontext.EncodedSpace, htmlcontext.EscapeNone)
	}
	return nil
}

// append appends a value. depth is the number of arrays around it.
func (e *execution) append(v any, as htmlcontext.Escape, depth int) error {
	switch v := v.(type) {
	case string:
		return e.appendText(v, as)
	case bool:
		if v {
			return e.appendText("true", as)
		}
		return e.appendText("false", as)
	case []any:
		return e.appendArray(v, as, depth)
	}
	f, is := number(v)
	if !is {
		return nil
	}
	var digits [32]byte
	return e.appended(htmlcontext.Append(e.dst, appendNumber(digits[:0], f), as))
}

// appendArray appends the items of an array with commas between them. The items after the
// first cannot begin a link.
func (e *execution) appendArray(items []any, as htmlcontext.Escape, depth int) error {
	if depth == MaxDepth {
		return ErrDepth
	}
	for i, item := range items {
		if e.steps--; e.steps < 0 {
			return ErrSteps
		}
		if i > 0 {
			as = as.Continued()
			if err := e.appendText(",", as); err != nil {
				return err
			}
		}
		if err := e.append(item, as, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (e *execution) appendText(s string, as htmlcontext.Escape) error {
	if len(e.dst)+len(s) > e.end {
		return ErrOutput
	}
	return e.appended(htmlcontext.Append(e.dst, s, as))
}

// appended takes over the output after something was appended to it.
func (e *execution) appended(dst []byte) error {
	e.dst = dst
	if len(dst) > e.end {
		return ErrOutput
	}
	return nil
}

// Missing returns the names of the variables that an execution with data prints blank: they
// have no value, an empty one, or one that cannot be printed. A variable in an arm that is
// not rendered is not missing. Names are in the order of their first use in the template.
// An execution that exceeds the default limits is cut off there.
func (t *Template) Missing(data map[string]any) []string {
	var e execution
	e.begin(t, nil, data, Limits{})
	e.blank = make([]bool, len(t.variables))
	_ = e.run(0, len(e.template.operations)) // what was printed before the limit is known
	e.release()
	var missing []string
	for i, v := range t.variables {
		if e.blank[i] {
			missing = append(missing, v.Name)
		}
	}
	return missing
}
