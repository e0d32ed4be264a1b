package core

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Voice names the author of a text in a result.
type Voice string

// The values of the field tag "voice". A text that a model could take for an instruction is
// either composed by this service, with quotations marked, or untrusted.
const (
	Ours      Voice = "ours"
	Untrusted Voice = "untrusted"
)

// Text is a member of a result that contains text. Path has dots between members and []
// after a list: "items[].name". It includes everything below a member that may hold any
// JSON. Voice is "" when the type declares none.
type Text struct {
	Path  string
	Voice Voice
}

// textsOf returns the texts of a result type in order of declaration. It omits identifiers,
// times and members with a closed set of values, which cannot contain a sentence.
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
	// The keys of a map are names that a customer chose, so every map is text.
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

// UntrustedExtra returns the extra members of an error that may hold text, directly or
// below: values of the caller or of stored records. A member counts as text unless its type
// cannot hold any.
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
