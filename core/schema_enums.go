package core

import (
	"bytes"
	"reflect"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	reflector "github.com/invopop/jsonschema"
)

// enums has the enumerations of an input schema, by the places of their values. Callers may
// send a value in any case; everything behind the schema sees the spelling of the schema.
type enums struct {
	words   []string          // the values of an enumerated text, as the schema spells them
	items   *enums            // of the items of an array
	members map[string]*enums // of the named members of an object
	others  *enums            // of all other members of an object
}

// enumsOf returns the enumerations of a schema, nil if it has none whose case may vary.
func enumsOf(s *reflector.Schema) *enums {
	if s == nil {
		return nil
	}
	if len(s.OneOf) > 0 {
		return enumsOfAlternatives(s.OneOf)
	}
	e := enums{words: distinctWords(s.Enum), items: enumsOf(s.Items), others: enumsOf(s.AdditionalProperties)}
	if s.Properties != nil {
		for p := s.Properties.Oldest(); p != nil; p = p.Next() {
			if of := enumsOf(p.Value); of != nil {
				if e.members == nil {
					e.members = map[string]*enums{}
				}
				e.members[p.Key] = of
			}
		}
	}
	return e.orNil()
}

// enumsOfAlternatives joins the enumerations of alternatives whose types differ, so that
// the type of a value decides which one applies. It returns nil if two alternatives have
// the same type or one has none: a value could then be a word of one and a free text of the
// other.
func enumsOfAlternatives(alternatives []*reflector.Schema) *enums {
	var e enums
	seen := map[string]bool{}
	for _, alternative := range alternatives {
		if alternative.Type == "" || seen[alternative.Type] {
			return nil
		}
		seen[alternative.Type] = true
		of := enumsOf(alternative)
		switch {
		case of == nil:
		case alternative.Type == "string":
			e.words = of.words
		case alternative.Type == "array":
			e.items = of.items
		case alternative.Type == "object":
			e.members, e.others = of.members, of.others
		}
	}
	return e.orNil()
}

func (e *enums) orNil() *enums {
	if e.words == nil && e.items == nil && e.members == nil && e.others == nil {
		return nil
	}
	return e
}

// distinctWords returns the texts of an enumeration. It returns nil if a value is neither a
// text nor null, or if two texts differ only in case, which then has a meaning.
func distinctWords(values []any) []string {
	var words []string
	for _, value := range values {
		if value == nil {
			continue
		}
		text := reflect.ValueOf(value)
		if text.Kind() != reflect.String {
			return nil
		}
		for _, word := range words {
			if _, alike := compareWord(word, text.String()); alike {
				return nil
			}
		}
		words = append(words, text.String())
	}
	return words
}

// CanonicalWord returns the one of the words that equals text except for the case of ASCII
// letters. It returns text if there is none. Rows of a request use it for their enumerated
// members, because the schema does not check rows. No two words may differ only in case.
func CanonicalWord(text string, words ...string) string {
	if word, differs := respelled(words, text); differs {
		return word
	}
	return text
}

// respelled returns the word that equals text except for the case of ASCII letters. It
// returns false if text is one of the words, or equals none.
func respelled[T string | []byte](words []string, text T) (string, bool) {
	for _, word := range words {
		if equal, alike := compareWord(word, text); alike {
			return word, !equal
		}
	}
	return "", false
}

// compareWord reports whether word and text are equal, and whether they are equal except
// for the case of ASCII letters. Other letters are compared exactly: Unicode also has a
// long s and a Kelvin sign, which fold to s and k.
func compareWord[T string | []byte](word string, text T) (equal, alike bool) {
	if len(word) != len(text) {
		return false, false
	}
	equal = true
	for i := range len(word) {
		if word[i] == text[i] {
			continue
		}
		if equal = false; lowerASCII(word[i]) != lowerASCII(text[i]) {
			return false, false
		}
	}
	return equal, true
}

func lowerASCII(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// respell returns a decoded JSON value with each enumerated text as the schema spells it,
// and whether it changed one. It changes arrays and objects in place, and allocates nothing
// if no text differs.
func (e *enums) respell(value any) (any, bool) {
	if e == nil {
		return value, false
	}
	changed := false
	switch v := value.(type) {
	case string:
		if word, differs := respelled(e.words, v); differs {
			return word, true
		}
	case []any:
		if e.items == nil {
			return value, false
		}
		for i, item := range v {
			if as, differs := e.items.respell(item); differs {
				v[i], changed = as, true
			}
		}
	case map[string]any:
		changed = e.respellMembers(v)
	}
	return value, changed
}

func (e *enums) respellMembers(object map[string]any) bool {
	changed := false
	respell := func(name string, value any, of *enums) {
		if as, differs := of.respell(value); differs {
			object[name], changed = as, true
		}
	}
	for name, of := range e.members {
		if value, sent := object[name]; sent {
			respell(name, value, of)
		}
	}
	if e.others == nil {
		return changed
	}
	for name, value := range object {
		if _, named := e.members[name]; !named {
			respell(name, value, e.others)
		}
	}
	return changed
}

// respellText returns a JSON text with each enumerated text as the schema spells it. It
// returns raw itself if no text differs, and also if raw is not JSON. All other bytes stay
// as they are.
func (e *enums) respellText(raw []byte) []byte {
	if e == nil || len(raw) == 0 {
		return raw
	}
	r := respellers.Get().(*respeller)
	r.begin(raw)
	defer func() {
		r.begin(nil) // the pooled respeller must not keep the request in memory
		respellers.Put(r)
	}()
	if r.value(e) != nil || r.written == nil {
		return raw
	}
	return append(r.written, raw[r.taken:]...)
}

// respeller copies raw to written, with each enumerated text as the schema spells it.
type respeller struct {
	*jsontext.Decoder
	source       bytes.Buffer // of the decoder
	raw, written []byte       // written is nil until a text differs
	taken        int          // number of bytes of raw that were copied or replaced
}

var respellers = sync.Pool{New: func() any { return &respeller{Decoder: jsontext.NewDecoder(noInput)} }}

// A member that accepts any JSON may repeat names and have invalid UTF-8; see [AnyPaths].
var anyJSON = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

func (r *respeller) begin(raw []byte) {
	r.source = *bytes.NewBuffer(raw)
	r.raw, r.written, r.taken = raw, nil, 0
	r.Reset(&r.source, anyJSON...)
}

// value reads the next value, whose enumerations are those of e.
func (r *respeller) value(e *enums) error {
	kind := r.PeekKind()
	switch {
	case e != nil && kind == '"':
		return r.word(e.words)
	case e == nil || kind != '{' && kind != '[':
		return r.SkipValue()
	}
	if _, err := r.ReadToken(); err != nil {
		return err
	}
	for {
		switch r.PeekKind() {
		case '}', ']', 0:
			_, err := r.ReadToken()
			return err
		}
		of := e.items
		if kind == '{' {
			name, err := r.text()
			if err != nil {
				return err
			}
			var named bool
			if of, named = e.members[string(name)]; !named {
				of = e.others
			}
		}
		if err := r.value(of); err != nil {
			return err
		}
	}
}

func (r *respeller) word(words []string) error {
	start := int(r.InputOffset())
	text, err := r.text()
	if err != nil {
		return err
	}
	if word, differs := respelled(words, text); differs {
		end := int(r.InputOffset())
		start += bytes.IndexByte(r.raw[start:end], '"') // skip the colon or comma and white space
		r.written = append(r.written, r.raw[r.taken:start]...)
		if r.written, err = jsontext.AppendQuote(r.written, word); err != nil {
			return err
		}
		r.taken = end
	}
	return nil
}

// text reads a string and returns its text, which is valid until the next read.
func (r *respeller) text() ([]byte, error) {
	value, err := r.ReadValue()
	if err != nil {
		return nil, err
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return value[1 : len(value)-1], nil
	}
	return jsontext.AppendUnquote(nil, value)
}
