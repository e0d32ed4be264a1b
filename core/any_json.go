package core

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// AnyPaths are the paths of a value at which any JSON text may stand (RFC 8259). That
// includes texts that CheckJSON refuses: a member named twice, a number of any length, a
// NUL. Such a text is stored and returned as bytes, without being parsed. A field of type
// json.RawMessage declares such a path. A field of type []json.RawMessage declares rows,
// which are decoded one by one. The nil value has no paths; all methods accept it.
type AnyPaths struct {
	any bool
	// whether the text is a row of a list. CheckJSON does not limit its depth, because
	// [ReadRow] does
	deep    bool
	items   *AnyPaths
	members map[string]*AnyPaths
}

// CheckJSON checks a value as the function [CheckJSON] does, except for the texts at the
// paths of p. Each of these must be one JSON text in UTF-8. A text that is not a row of a
// list may nest at most MaxJSONDepth levels.
func (p *AnyPaths) CheckJSON(raw []byte) error {
	err := CheckJSON(raw)
	if err == nil || p == nil {
		return err
	}
	return CheckJSON(p.maskPaths(raw))
}

// Nest returns p moved below the given member names: a path "c" of p becomes "a.b.c" for
// the names a and b.
func (p *AnyPaths) Nest(names ...string) *AnyPaths {
	for i := len(names) - 1; i >= 0 && p != nil; i-- {
		p = &AnyPaths{members: map[string]*AnyPaths{names[i]: p}}
	}
	return p
}

// Member returns the paths below one member of an object. The name "*" means the items of
// an array.
func (p *AnyPaths) Member(name string) *AnyPaths {
	switch {
	case p == nil:
		return nil
	case name == "*":
		return p.items
	}
	return p.members[name]
}

// Union returns a value with the paths of both p and q.
func (p *AnyPaths) Union(q *AnyPaths) *AnyPaths {
	if p == nil || q == nil || p.any || q.any {
		if p == nil || q != nil && q.any {
			return q
		}
		return p
	}
	both := &AnyPaths{items: p.items.Union(q.items), members: map[string]*AnyPaths{}}
	for name, of := range p.members {
		both.members[name] = of
	}
	for name, of := range q.members {
		both.members[name] = both.members[name].Union(of)
	}
	return both
}

var rawJSON = reflect.TypeFor[json.RawMessage]()

// AnyPathsOf returns the paths at which a value of the Go type may have any JSON, nil for
// none.
func AnyPathsOf[T any]() *AnyPaths { return anyPathsOf(reflect.TypeFor[T]()) }

// anyPathsOf returns the paths at which a value of type t may have any JSON, nil for none.
func anyPathsOf(t reflect.Type) *AnyPaths {
	switch {
	case t == rawJSON:
		return &AnyPaths{any: true}
	case t.Kind() == reflect.Pointer:
		return anyPathsOf(t.Elem())
	case t.Kind() == reflect.Slice && t.Elem() == rawJSON:
		return &AnyPaths{items: &AnyPaths{any: true, deep: true}}
	case t.Kind() == reflect.Slice:
		if of := anyPathsOf(t.Elem()); of != nil {
			return &AnyPaths{items: of}
		}
	case t.Kind() == reflect.Struct && !reflect.PointerTo(t).Implements(unmarshaler):
		return anyPathsOfMembers(t)
	}
	return nil
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// anyPathsOfMembers returns the paths at which a value of a struct type may have any JSON,
// nil for none. The names in a path are the JSON names of the fields.
func anyPathsOfMembers(t reflect.Type) *AnyPaths {
	var p *AnyPaths
	for _, f := range reflect.VisibleFields(t) {
		if !f.IsExported() || f.Anonymous || f.Tag.Get("json") == "-" {
			continue
		}
		if of := anyPathsOf(f.Type); of != nil {
			p = p.Union(of.Nest(jsonName(f)))
		}
	}
	return p
}

// maskPaths returns raw with null in place of each valid JSON text at a path of p. An
// invalid text at such a path stays unchanged. So CheckJSON on the result refuses invalid
// texts and checks the rest of raw.
func (p *AnyPaths) maskPaths(raw []byte) []byte {
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

// covering copies raw to covered, with null in place of the JSON texts at the declared
// paths.
type covering struct {
	*jsontext.Decoder
	raw, covered []byte
	taken        int // number of bytes of raw that were copied or replaced
}

func (c *covering) value(p *AnyPaths) error {
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

// hide writes null in place of the next JSON value. A value that nests too deeply is copied
// unchanged, so that CheckJSON refuses it. If deep is true, hide replaces values of any
// depth.
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

// levels returns the greatest depth of nested arrays and objects in a JSON text.
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
