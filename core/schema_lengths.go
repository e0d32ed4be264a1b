package core

import (
	"fmt"

	reflector "github.com/invopop/jsonschema"
)

// lengths has the limits of a schema on the lengths of arrays and the number of members of
// objects. They are checked before the rest of the schema: the validator allocates about
// 800 bytes for every wrong element, so half a million elements would take hundreds of
// megabytes.
type lengths struct {
	longest int // greatest number of items of an array; 0 means no limit
	largest int // greatest number of members of a value that is an object; 0 means no limit
	items   *lengths
	members map[string]*lengths
}

// lengthsOf returns the maximum lengths that a schema sets for arrays and objects. It
// returns nil if the schema sets none.
func lengthsOf(s *reflector.Schema) *lengths {
	if s == nil {
		return nil
	}
	l := &lengths{items: lengthsOf(s.Items)}
	if s.MaxItems != nil {
		l.longest = int(*s.MaxItems)
	}
	if s.MaxProperties != nil {
		l.largest = int(*s.MaxProperties)
	}
	if s.Properties != nil {
		for p := s.Properties.Oldest(); p != nil; p = p.Next() {
			l.member(p.Key, lengthsOf(p.Value))
		}
	}
	for _, alternative := range s.OneOf { // at most one alternative is an array, and at most one is an object
		if of := lengthsOf(alternative); of != nil {
			l.longest, l.largest = max(l.longest, of.longest), max(l.largest, of.largest)
			if of.items != nil {
				l.items = of.items
			}
		}
	}
	if l.longest == 0 && l.largest == 0 && l.items == nil && l.members == nil {
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

// check returns the fault of the first array or object in value that is too large, nil for
// none. at is the path of value in the request.
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
			if fault := l.items.check(item, joinPath(at, fmt.Sprint(i))); fault != nil {
				return fault
			}
		}
	case map[string]any:
		if l.largest > 0 && len(v) > l.largest {
			return &FieldError{Field: at, Reason: fmt.Sprintf("must have at most %d members", l.largest)}
		}
		for name, of := range l.members {
			if fault := of.check(v[name], joinPath(at, name)); fault != nil {
				return fault
			}
		}
	}
	return nil
}

func joinPath(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}
