package core

import (
	"encoding/json"
	"math"
	"slices"

	reflector "github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
)

// simpleSchema is a schema of an object whose members are texts and booleans, such as the
// arguments of most reads. [simpleSchema.accepts] accepts the usual JSON texts of such an object
// without decoding them. For all other texts, right or wrong, the schema itself must be asked.
type simpleSchema struct {
	members  []simpleMember
	required uint64 // a bit for each member that must be there, by its index
}

// simpleMember is a member of a simpleSchema.
type simpleMember struct {
	name              string
	boolean           bool
	shortest, longest int
	words             []string // the values of an enumeration, nil for all
	format            *validator.Format
}

// simpleKeywords are the keywords that members of a simpleSchema may have. Those that are not
// fields of simpleMember only describe.
var simpleKeywords = []string{"type", "title", "description", "examples", "default", "minLength", "maxLength", "format", "enum"}

// simpleOf returns the schema in its simple form without the formats, or nil if it has none. See
// [simpleSchema.takeFormats].
func simpleOf(s *reflector.Schema) *simpleSchema {
	names := keywords(s)
	names = slices.DeleteFunc(names, func(k string) bool {
		return slices.Contains([]string{"type", "properties", "additionalProperties", "required", "title", "description"}, k)
	})
	if len(names) > 0 || s.Type != "object" || s.Properties == nil || s.Properties.Len() > 64 {
		return nil
	}
	simple := &simpleSchema{}
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		of := p.Value
		for _, k := range keywords(of) {
			if !slices.Contains(simpleKeywords, k) {
				return nil
			}
		}
		if of.Type != "string" && (of.Type != "boolean" || of.Enum != nil) {
			return nil
		}
		member := simpleMember{name: p.Key, boolean: of.Type == "boolean", longest: math.MaxInt}
		if of.MinLength != nil {
			member.shortest = int(*of.MinLength)
		}
		if of.MaxLength != nil {
			member.longest = int(*of.MaxLength)
		}
		for _, word := range of.Enum {
			text, ok := word.(string)
			if !ok {
				return nil
			}
			member.words = append(member.words, text)
		}
		if slices.Contains(s.Required, p.Key) {
			simple.required |= 1 << len(simple.members)
		}
		simple.members = append(simple.members, member)
	}
	return simple
}

// takeFormats sets the formats of the members, which only the compiled schema has. Call it before
// accepts.
func (s *simpleSchema) takeFormats(compiled *validator.Schema) {
	if s == nil {
		return
	}
	for i := range s.members {
		s.members[i].format = compiled.Properties[s.members[i].name].Format
	}
}

// keywords returns the keywords of a schema.
func keywords(s *reflector.Schema) []string {
	var members map[string]json.RawMessage
	if text, err := json.Marshal(s); err != nil || json.Unmarshal(text, &members) != nil {
		return []string{"not an object"} // true or false
	}
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	return names
}

// accepts reports whether raw surely is valid. Texts with other characters than printable ASCII, or
// with a backslash, are left to the schema itself, and so are enumerated values in another case.
func (s *simpleSchema) accepts(raw []byte) bool {
	if s == nil {
		return false
	}
	r := simpleReader{rest: raw}
	if !r.take('{') {
		return false
	}
	var seen uint64
	for i := 0; !r.take('}'); i++ {
		if i > 0 && !r.take(',') {
			return false
		}
		name, ok := r.text()
		if !ok || !r.take(':') {
			return false
		}
		at := s.index(name)
		if at < 0 || seen&(1<<at) != 0 || !s.members[at].accepts(&r) {
			return false
		}
		seen |= 1 << at
	}
	r.skipSpace()
	return len(r.rest) == 0 && seen&s.required == s.required
}

// index returns the index of a member, -1 if the schema has none of that name.
func (s *simpleSchema) index(name []byte) int {
	for i := range s.members {
		if s.members[i].name == string(name) {
			return i
		}
	}
	return -1
}

// accepts reads a value and reports whether it surely is valid.
func (m *simpleMember) accepts(r *simpleReader) bool {
	if m.boolean {
		return r.word("true") || r.word("false")
	}
	text, ok := r.text()
	if !ok || len(text) < m.shortest || len(text) > m.longest {
		return false
	}
	if m.words != nil && !slices.Contains(m.words, string(text)) {
		return false
	}
	return m.format == nil || m.format.Validate(string(text)) == nil
}

// simpleReader reads JSON texts of printable ASCII without escapes.
type simpleReader struct{ rest []byte }

func (r *simpleReader) skipSpace() {
	for len(r.rest) > 0 && (r.rest[0] == ' ' || r.rest[0] == '\n' || r.rest[0] == '\t' || r.rest[0] == '\r') {
		r.rest = r.rest[1:]
	}
}

// take reads the character c after any white space, and reports whether it is there.
func (r *simpleReader) take(c byte) bool {
	r.skipSpace()
	if len(r.rest) == 0 || r.rest[0] != c {
		return false
	}
	r.rest = r.rest[1:]
	return true
}

// word reads a literal name after any white space, and reports whether it is there.
func (r *simpleReader) word(name string) bool {
	r.skipSpace()
	if len(r.rest) < len(name) || string(r.rest[:len(name)]) != name {
		return false
	}
	r.rest = r.rest[len(name):]
	return true
}

// text reads a text after any white space. It is part of the input.
func (r *simpleReader) text() ([]byte, bool) {
	if !r.take('"') {
		return nil, false
	}
	for i, c := range r.rest {
		switch {
		case c == '"':
			text := r.rest[:i]
			r.rest = r.rest[i+1:]
			return text, true
		case c < ' ' || c > '~' || c == '\\':
			return nil, false
		}
	}
	return nil, false
}
