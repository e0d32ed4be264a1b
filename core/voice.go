package core

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Voice says who wrote a text in a result: Mailhelm or others.
type Voice string

// The values of the field tag "voice". Ours marks text that Mailhelm composed; quotations
// in it are set off by quotation marks. Untrusted marks text of others, which a model must
// not take for instructions.
const (
	Ours      Voice = "ours"
	Untrusted Voice = "untrusted"
)

// Text is a member of a result that contains text. Path has dots between members and []
// after a list: "items[].name". If the member may hold any JSON, Path covers everything
// below it. Voice is "" if the type declares none.
type Text struct {
	Path  string
	Voice Voice
}

// textsOf returns the members of a result type that contain text, in order of declaration.
// It omits identifiers, times and members with a closed set of values, because these cannot
// contain free text.
func textsOf(t reflect.Type) []Text {
	var found []Text
	collectTexts(t, "", "", &found)
	return found
}

func collectTexts(t reflect.Type, path string, declared Voice, into *[]Text) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[time.Time]():
	case t == reflect.TypeFor[json.RawMessage]():
		*into = append(*into, Text{path, declared})
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		collectTexts(t.Elem(), path+"[]", declared, into)
	case t.Kind() == reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			collectField(f, path, into)
		}
	// Customers choose the keys of maps, so every map counts as text.
	case t.Kind() == reflect.String || t.Kind() == reflect.Map || t.Kind() == reflect.Interface:
		*into = append(*into, Text{path, declared})
	}
}

func collectField(f reflect.StructField, path string, into *[]Text) {
	name := jsonName(f)
	if !f.IsExported() || name == "-" || f.Anonymous && name == "" {
		return
	}
	if name == "" {
		name = f.Name
	}
	limits := strings.Split(f.Tag.Get("jsonschema"), ",")
	closedValues := slices.ContainsFunc(limits, func(l string) bool {
		return strings.HasPrefix(l, "enum=") || l == "format=uuid"
	})
	if !closedValues {
		collectTexts(f.Type, joinPath(path, name), Voice(f.Tag.Get("voice")), into)
	}
}

// UntrustedPaths returns the paths of texts that Mailhelm did not write: those declared
// untrusted, and those without a declaration.
func UntrustedPaths(texts []Text) []string {
	var paths []string
	for _, text := range texts {
		if text.Voice != Ours {
			paths = append(paths, text.Path)
		}
	}
	return paths
}

// UntrustedExtra returns the names of the members of e.Extra that may contain text of
// callers or of stored records. It omits a member only if values of its type cannot contain
// text.
func (e *Error) UntrustedExtra() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(e.Extra)) {
		if !textless(e.Extra[name]) {
			names = append(names, name)
		}
	}
	return names
}

func textless(value any) bool {
	switch value.(type) {
	case nil, time.Time:
		return true
	}
	kind := reflect.TypeOf(value).Kind()
	return kind == reflect.Bool || kind >= reflect.Int && kind <= reflect.Float64
}
