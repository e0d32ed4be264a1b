package core

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Places are the places of a value where any JSON text may stand (RFC 8259). That includes
// texts that CheckJSON refuses: a member named twice, a number of any length, a NUL. Such a
// text is stored and returned as bytes, without being parsed. A member of type
// json.RawMessage declares a place, a slice of that type declares rows.
type Places struct {
	any     bool
	deep    bool // of any depth, because a row is read by itself; see [ReadRow]
	items   *Places
	members map[string]*Places
}

// CheckJSON is [CheckJSON] for a value in which some places hold any JSON. Such a place
// holds one JSON text in UTF-8. Its depth is at most MaxJSONDepth, except in rows.
func (p *Places) CheckJSON(raw []byte) error {
	err := CheckJSON(raw)
	if err == nil || p == nil {
		return err
	}
	return CheckJSON(p.cover(raw))
}

// Below returns the places of an object in which the member with this path has the places p.
func (p *Places) Below(names ...string) *Places {
	for i := len(names) - 1; i >= 0 && p != nil; i-- {
		p = &Places{members: map[string]*Places{names[i]: p}}
	}
	return p
}

// Of returns the places below a member, or with "*" those below the items of an array.
func (p *Places) Of(name string) *Places {
	switch {
	case p == nil:
		return nil
	case name == "*":
		return p.items
	}
	return p.members[name]
}

// With returns the places of p and q together.
func (p *Places) With(q *Places) *Places {
	if p == nil || q == nil || p.any || q.any {
		if p == nil || q != nil && q.any {
			return q
		}
		return p
	}
	both := &Places{items: p.items.With(q.items), members: map[string]*Places{}}
	for name, of := range p.members {
		both.members[name] = of
	}
	for name, of := range q.members {
		both.members[name] = both.members[name].With(of)
	}
	return both
}

var rawJSON = reflect.TypeFor[json.RawMessage]()

// PlacesOf returns the places of a type, nil for a type without places.
func PlacesOf[T any]() *Places { return placesOf(reflect.TypeFor[T]()) }

// placesOf returns the places of t, nil when it has no places.
func placesOf(t reflect.Type) *Places {
	switch {
	case t == rawJSON:
		return &Places{any: true}
	case t.Kind() == reflect.Pointer:
		return placesOf(t.Elem())
	case t.Kind() == reflect.Slice && t.Elem() == rawJSON:
		return &Places{items: &Places{any: true, deep: true}}
	case t.Kind() == reflect.Slice:
		if of := placesOf(t.Elem()); of != nil {
			return &Places{items: of}
		}
	case t.Kind() == reflect.Struct && !reflect.PointerTo(t).Implements(unmarshaler):
		return placesOfMembers(t)
	}
	return nil
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

func placesOfMembers(t reflect.Type) *Places {
	var p *Places
	for _, f := range reflect.VisibleFields(t) {
		if !f.IsExported() || f.Anonymous || f.Tag.Get("json") == "-" {
			continue
		}
		if of := placesOf(f.Type); of != nil {
			p = p.With(of.Below(jsonName(f)))
		}
	}
	return p
}

// cover returns raw with null in each place that holds JSON. The errors that remain are
// outside the places, or in a place that holds no JSON.
func (p *Places) cover(raw []byte) []byte {
	if !utf8.Valid(raw) {
		return raw
	}
	c := covering{
		raw: raw, covered: make([]byte, 0, len(raw)),
		Decoder: jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
	}
	if c.value(p) != nil {
		return raw
	}
	return append(c.covered, raw[c.taken:]...)
}

// covering copies raw up to the position of the reader.
type covering struct {
	*jsontext.Decoder
	raw, covered []byte
	taken        int // bytes of raw that are in covered, or null there
}

func (c *covering) value(p *Places) error {
	switch {
	case p == nil:
		return c.SkipValue()
	case p.any:
		return c.hide(p.deep)
	}
	kind := c.PeekKind()
	if kind != '{' && kind != '[' {
		return c.SkipValue()
	}
	if _, err := c.ReadToken(); err != nil {
		return err
	}
	for {
		switch c.PeekKind() {
		case '}', ']', 0:
			_, err := c.ReadToken()
			return err
		}
		of := p.items
		if kind == '{' {
			name, err := c.ReadToken()
			if err != nil {
				return err
			}
			of = p.members[name.String()]
		}
		if err := c.value(of); err != nil {
			return err
		}
	}
}

// hide writes null in place of the next value, unless the value is too deep for its place.
func (c *covering) hide(deep bool) error {
	above := c.StackDepth()
	value, err := c.ReadValue()
	if err != nil {
		return err
	}
	if end := int(c.InputOffset()); deep || above+levels(value) <= MaxJSONDepth {
		c.covered = append(append(c.covered, c.raw[c.taken:end-len(value)]...), "null"...)
		c.taken = end
	}
	return nil
}

// levels returns how deep the arrays and objects of a JSON text nest.
func levels(text []byte) int {
	depth, most, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case strings.IndexByte("[{", c) >= 0:
			depth++
			most = max(most, depth)
		case strings.IndexByte("]}", c) >= 0:
			depth--
		}
	}
	return most
}
