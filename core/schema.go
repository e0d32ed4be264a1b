package core

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"sync"

	reflector "github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a JSON Schema (2020-12) generated from a Go type, with the validator compiled
// from it. The REST API, the agent tools and the documentation use the same schemas.
//
// Both are made at their first use, which takes about a millisecond. The hundreds of schemas
// of all operations would take most of the time of a start.
type Schema struct {
	key schemaKey

	generating sync.Once // of the fields below
	text       json.RawMessage
	lengths    *lengths
	enums      *enums        // of an input schema
	simple     *simpleSchema // of an input schema; nil if it has no simple form
	members    []string      // names of the top-level members, which error messages list

	compiling sync.Once // of the fields below, and of the formats in simple
	compiled  *validator.Schema
	holdsAny  bool // whether a value of the Go type can hold values of any type

	finding sync.Once // of places
	places  *AnyPaths
}

// InputSchema returns the schema of the arguments of operations that take T. Values of T from other
// sources than a call, such as files, are held to the rules of the calls with it.
func InputSchema[T any]() *Schema { return mustSchema(reflect.TypeFor[T](), REST, closed) }

// CheckValue validates a value as [Schema.Check] does its JSON.
func (s *Schema) CheckValue(value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return Internal(err)
	}
	return s.Check(raw)
}

// Text returns the schema as JSON. Callers must not change it.
func (s *Schema) Text() json.RawMessage {
	s.generate()
	return s.text
}

// Members returns the names of the top-level members in order of declaration.
func (s *Schema) Members() []string {
	s.generate()
	return s.members
}

// HasMember reports whether Members has the name. It reads the Go type instead of the schema, so
// it is cheap before the first use of the schema.
func (s *Schema) HasMember(name string) bool { return hasMember(s.key.of, s.key.surface, name) }

// AnyPaths returns the paths at which the arguments may have any JSON, nil for none.
func (s *Schema) AnyPaths() *AnyPaths {
	s.finding.Do(func() {
		if s.key.open == closed {
			s.places = anyPathsOf(s.key.of)
		}
	})
	return s.places
}

// Canonical returns the canonical form of a JSON text that Check accepts: see
// [CanonicalJSON], with enumerated values as the schema spells them. Requests with the same
// meaning therefore have the same form. A text that has no canonical JSON is returned as it
// is, except for these values.
func (s *Schema) Canonical(raw []byte) ([]byte, error) {
	s.generate()
	raw = s.enums.respellText(raw)
	if s.AnyPaths() != nil && CheckJSON(raw) != nil {
		return bytes.Clone(raw), nil
	}
	return CanonicalJSON(raw)
}

// Check validates a JSON text against the schema. It fails with validation_failed and one
// [FieldError] for each fault. An input schema accepts enumerated values in any case.
func (s *Schema) Check(raw []byte) error {
	_, err := s.check(raw)
	return err
}

// check validates as Check does, and returns the text with enumerated values as the schema
// spells them.
func (s *Schema) check(raw []byte) ([]byte, error) {
	s.compile()
	if s.simple.accepts(raw) {
		return raw, nil
	}
	return s.checkDecoded(raw)
}

// checkDecoded validates as check does, without the simple form of the schema. The schema
// must be compiled.
func (s *Schema) checkDecoded(raw []byte) ([]byte, error) {
	value, err := decodeJSON(raw)
	if places := s.AnyPaths(); err != nil && places != nil {
		value, err = decodeJSON(places.maskPaths(raw))
	}
	if err != nil {
		return nil, err
	}
	if fault := s.lengths.check(value, ""); fault != nil {
		return nil, InvalidFields(*fault)
	}
	value, changed := s.enums.respell(value)
	if err := s.compiled.Validate(value); err != nil {
		return nil, s.explain(err)
	}
	if changed {
		raw = s.enums.respellText(raw)
	}
	return raw, nil
}

// openness says whether objects may have members that the schema does not name. Input
// schemas are closed, so that a misspelled argument is an error. Output schemas are open,
// so that a later version may add members.
type openness bool

const (
	closed openness = false
	open   openness = true
)

// schemaKey is the key of a generated schema. Operations with the same Go type share the
// schema, on one surface and with the same openness.
type schemaKey struct {
	of      reflect.Type
	surface Surface
	open    openness
}

var schemas sync.Map // map of schemaKey to *Schema, filled by mustSchema

// mustSchema returns the schema of a Go type. Its first use panics for a type that JSON Schema
// cannot describe, which is an error in the declaration of an operation.
func mustSchema(t reflect.Type, s Surface, o openness) *Schema {
	key := schemaKey{t, s, o}
	if made, ok := schemas.Load(key); ok {
		return made.(*Schema)
	}
	made, _ := schemas.LoadOrStore(key, &Schema{key: key})
	return made.(*Schema)
}

// generate generates the schema from the Go type. It does so at the first call only.
func (s *Schema) generate() { s.generating.Do(s.generateNow) }

func (s *Schema) generateNow() {
	r := reflector.Reflector{
		Anonymous: true, DoNotReference: true, ExpandedStruct: true,
		AllowAdditionalProperties: bool(s.key.open),
	}
	generated := r.ReflectFromType(s.key.of)
	generated.Version = ""
	dropOtherSurface(generated, s.key.of, s.key.surface)
	boundForAgents(generated, s.key.of, s.key.surface)
	foldNullable(generated)
	text, err := json.Marshal(generated)
	if err != nil {
		panic("core: schema of " + s.key.of.String() + ": " + err.Error())
	}
	s.text, s.lengths = text, lengthsOf(generated)
	if !s.key.open {
		s.enums, s.simple = enumsOf(generated), simpleOf(generated)
	}
	if generated.Properties != nil {
		for p := generated.Properties.Oldest(); p != nil; p = p.Next() {
			s.members = append(s.members, p.Key)
		}
	}
}

// compile generates the schema, and compiles the validator from it. It does so at the first
// call only. Output schemas are compiled in tests alone, because only they check results.
func (s *Schema) compile() {
	s.compiling.Do(func() {
		s.generate()
		s.compiled = mustCompile(s.key.of.String(), s.text)
		s.simple.takeFormats(s.compiled)
		s.holdsAny = holdsAny(s.key.of)
	})
}

func mustCompile(name string, text []byte) *validator.Schema {
	doc, err := validator.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		panic("core: schema of " + name + ": " + err.Error())
	}
	c := validator.NewCompiler()
	c.DefaultDraft(validator.Draft2020)
	c.AssertFormat()
	c.RegisterFormat(&validator.Format{Name: "email", Validate: checkEmailFormat})
	c.RegisterFormat(&validator.Format{Name: "idn-email", Validate: checkIDNEmailFormat})
	// The address is absolute, because the compiler resolves a relative one by the current folder,
	// which the program may not be allowed to read.
	const address = "mailhelm:///schema.json"
	if err := c.AddResource(address, doc); err != nil {
		panic("core: schema of " + name + ": " + err.Error())
	}
	return c.MustCompile(address)
}

var errNotAnEmail = errors.New("not an address")

// checkEmailFormat implements the format "email" of the schemas: strings must pass IsEmail.
// A format does not apply to values that are not strings.
func checkEmailFormat(value any) error {
	if s, ok := value.(string); ok && !IsEmail(s) {
		return errNotAnEmail
	}
	return nil
}

// checkIDNEmailFormat implements the format "idn-email": unlike "email", the domain of the
// address may be internationalized.
func checkIDNEmailFormat(value any) error {
	if s, ok := value.(string); ok {
		if _, ok := CanonicalEmail(s); !ok {
			return errNotAnEmail
		}
	}
	return nil
}

// dropOtherSurface removes from the schema of one surface (REST or agent) the members that
// the tag only:"..." reserves for the other.
func dropOtherSurface(schema *reflector.Schema, t reflect.Type, s Surface) {
	if t.Kind() != reflect.Struct || schema.Properties == nil {
		return
	}
	for _, f := range reflect.VisibleFields(t) {
		only := f.Tag.Get("only")
		if only == "" || only == string(s) {
			continue
		}
		name := jsonName(f)
		schema.Properties.Delete(name)
		schema.Required = without(schema.Required, name)
	}
}

// boundForAgents applies the tag agentmax:"..." to the schema for agents, whose requests
// and results must be small. The tag limits the number of items of an array, or else the
// value of a number.
func boundForAgents(schema *reflector.Schema, t reflect.Type, s Surface) {
	if s != Agent || t.Kind() != reflect.Struct || schema.Properties == nil {
		return
	}
	for _, f := range reflect.VisibleFields(t) {
		if most := f.Tag.Get("agentmax"); most != "" {
			if member, there := schema.Properties.Get(jsonName(f)); there {
				if items, err := strconv.ParseUint(most, 10, 64); err == nil && member.Type == "array" {
					member.MaxItems = &items
					continue
				}
				member.Maximum = json.Number(most)
			}
		}
	}
}

// hasMember reports whether the JSON of the type has a member of this name on the surface.
func hasMember(t reflect.Type, s Surface, name string) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return false
	}
	for i := range t.NumField() {
		f := t.Field(i)
		own := jsonName(f)
		switch only := f.Tag.Get("only"); {
		case own == "-" || only != "" && only != string(s):
		case f.Anonymous && own == "":
			if hasMember(f.Type, s, name) {
				return true
			}
		case f.IsExported() && cmp.Or(own, f.Name) == name:
			return true
		}
	}
	return false
}

func without(names []string, name string) []string {
	kept := names[:0]
	for _, n := range names {
		if n != name {
			kept = append(kept, n)
		}
	}
	return kept
}

func jsonName(f reflect.StructField) string {
	tag := f.Tag.Get("json")
	for i := range len(tag) {
		if tag[i] == ',' {
			return tag[:i]
		}
	}
	return tag
}

// foldNullable replaces a schema with two alternatives, a type or null, by one schema that
// lists both types, for example "boolean" and "null". The new schema is half as long, which
// matters in the response to tools/list, and keeps the description at the top.
func foldNullable(s *reflector.Schema) {
	if s == nil {
		return
	}
	if len(s.OneOf) == 2 && s.OneOf[1].Type == "null" && s.OneOf[0].Type != "" {
		description := s.Description
		*s = *s.OneOf[0]
		s.Description = cmp.Or(s.Description, description)
		s.Extras = map[string]any{"type": []string{s.Type, "null"}}
		s.Type = ""
		if s.Enum != nil {
			s.Enum = append(s.Enum, nil)
		}
	}
	foldNullable(s.Items)
	foldNullable(s.AdditionalProperties)
	if s.Properties != nil {
		for p := s.Properties.Oldest(); p != nil; p = p.Next() {
			foldNullable(p.Value)
		}
	}
}
