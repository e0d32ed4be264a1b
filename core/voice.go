package core

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Voice says who speaks in a text of a result.
type Voice string

// The voices, as the field tag "voice" names them. A text that could carry an
// instruction to whoever reads it is either one that this service composed, in
// which the words of others stand quoted, or it is untrusted.
const (
	Ours      Voice = "ours"
	Untrusted Voice = "untrusted"
)

// Text is a member of a result that holds text. Path has dots between members and
// [] behind a list: "items[].name". Everything below a member that may hold any
// JSON goes with it. Voice is "" when the type does not say.
type Text struct {
	Path  string
	Voice Voice
}

// textsOf lists the texts of a result type in order of declaration. Identifiers,
// times and members with a closed set of values are no texts: nobody can write a
// sentence there.
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
	// A map's keys are names that somebody chose, so every map is text.
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
		collectTexts(f.Type, below(path, name), Voice(f.Tag.Get("voice")), into)
	}
}

// UntrustedPaths are the paths of texts that nobody here vouches for: those that
// are declared so, and those about which nothing is declared.
func UntrustedPaths(texts []Text) []string {
	var paths []string
	for _, text := range texts {
		if text.Voice != Ours {
			paths = append(paths, text.Path)
		}
	}
	return paths
}

// UntrustedExtra are the extra members of an error that may hold text, by
// themselves or anywhere below: values of the caller or of what was found, in
// either case not ours. What cannot hold any is known; all else is taken to.
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
