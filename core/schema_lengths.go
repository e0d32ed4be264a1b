package core

import (
	"fmt"

	reflector "github.com/invopop/jsonschema"
)

// lengths holds what a schema says about the lengths of arrays. It is checked
// before the rest: the validator describes every wrong element before it gives
// up, at some 800 bytes each, so an array of half a million of them would take
// hundreds of megabytes.
type lengths struct {
	longest int // of the array itself; 0 when it is none or has no limit
	items   *lengths
	members map[string]*lengths
}

// lengthsOf is nil for a schema in which no array has a limit.
func lengthsOf(s *reflector.Schema) *lengths {
	if s == nil {
		return nil
	}
	l := &lengths{items: lengthsOf(s.Items)}
	if s.MaxItems != nil {
		l.longest = int(*s.MaxItems) //nolint:gosec // written in a struct tag of ours
	}
	if s.Properties != nil {
		for p := s.Properties.Oldest(); p != nil; p = p.Next() {
			l.member(p.Key, lengthsOf(p.Value))
		}
	}
	for _, alternative := range s.OneOf { // at most one of them is an array
		if of := lengthsOf(alternative); of != nil && of.longest > 0 {
			l.longest, l.items = of.longest, of.items
		}
	}
	if l.longest == 0 && l.items == nil && l.members == nil {
		return nil
	}
	return l
}

func (l *lengths) member(name string, of *lengths) {
	if of == nil {
		return
	}
	if l.members == nil {
		l.members = map[string]*lengths{}
	}
	l.members[name] = of
}

// check finds the first array that is too long.
func (l *lengths) check(value any, at string) *FieldError {
	if l == nil {
		return nil
	}
	switch v := value.(type) {
	case []any:
		if l.longest > 0 && len(v) > l.longest {
			return &FieldError{Field: at, Reason: fmt.Sprintf("must have at most %d items", l.longest)}
		}
		if l.items == nil {
			return nil
		}
		for i, item := range v {
			if fault := l.items.check(item, below(at, fmt.Sprint(i))); fault != nil {
				return fault
			}
		}
	case map[string]any:
		for name, of := range l.members {
			if fault := of.check(v[name], below(at, name)); fault != nil {
				return fault
			}
		}
	}
	return nil
}

func below(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}
