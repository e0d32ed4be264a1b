package core

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Places are the places of a value under which any JSON text may stand (RFC 8259), also
// one that CheckJSON refuses: a member named twice, a number of any length, a NUL. Such a
// text is kept as bytes and given back as bytes; nobody takes it apart on the way. They
// are declared by a member of type json.RawMessage, or of a slice of that for rows.
type Places struct {
	any     bool
	deep    bool // of any depth, because a row is read by itself; see [ReadRow]
	items   *Places
	members map[string]*Places
}

// CheckJSON is [CheckJSON] for a value with such places. What stands there is one JSON
// text in UTF-8 of at most MaxJSONDepth levels, which a row may exceed.
func (p *Places) CheckJSON(raw []byte) error {
	err := CheckJSON(raw)
	if err == nil || p == nil {
		return err
	}
	return CheckJSON(p.cover(raw))
}

// Below are the places of an object whose member has these.
func (p *Places) Below(names ...string) *Places {
	for i := len(names) - 1; i >= 0 && p != nil; i-- {
		p = &Places{members: map[string]*Places{names[i]: p}}
	}
	return p
}

// Of are the places below a member, or "*" below the items of an array.
func (p *Places) Of(name string) *Places {
	switch {
	case p == nil:
		return nil
	case name == "*":
		return p.items
	}
	return p.members[name]
}

// With are the places of both.
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

// PlacesOf are the places of a type, nil for none.
func PlacesOf[T any]() *Places { return placesOf(reflect.TypeFor[T]()) }

// placesOf is nil for a type without such a place.
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

// cover puts null into the places, if they hold JSON. Then what is wrong is wrong
// elsewhere, or in a place that is left as it is.
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

// covering copies raw as far as it was read.
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

// hide covers the next value, unless it is too deep for its place.
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

// levels is how deep the arrays and objects of a JSON text nest.
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
