package handlebars

import (
	"slices"
	"strings"
)

// lookup returns the value of an operation's path, or nil.
func (e *execution) lookup(o *operation) any {
	p := &e.template.paths[o.path]
	v := e.begins(p)
	for i := range p.segments {
		if v == nil {
			return nil
		}
		v = member(v, &p.segments[i])
	}
	return v
}

// begins returns the value at the beginning of a path.
func (e *execution) begins(p *path) any {
	switch p.from {
	case fromContext:
		if p.up > e.scope {
			return nil
		}
		return e.values[e.scope-p.up]
	case fromRoot:
		return e.data
	}
	if p.up >= e.loop {
		return nil
	}
	l := &e.loops[e.loop-1-p.up]
	switch p.from {
	case fromFirst:
		return l.at == 0
	case fromLast:
		return l.at == l.size-1
	case fromKey:
		if l.object != nil {
			return (*e.keys)[l.first+l.at]
		}
	}
	return float64(l.at)
}

// sortNames sorts the names of an object's members: indices by their numbers, as JavaScript
// does, and then the other names by bytes. The order of the JSON text is not known.
func sortNames(names []string) {
	slices.SortFunc(names, func(a, b string) int {
		i, j := indexOf(a), indexOf(b)
		switch {
		case i >= 0 && j >= 0:
			return i - j
		case i >= 0:
			return -1
		case j >= 0:
			return 1
		}
		return strings.Compare(a, b)
	})
}
