package activities

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// keptMark begins the stored form of properties that the engines would read differently.
// Reads return properties byte for byte as they were sent, and predicates read them in
// SQL. PostgreSQL rejects a whole text for one \u0000 or half a surrogate pair. Of a
// repeated member one engine takes the first and the other the last. Such a text is
// stored inside an object that also has the members that predicates can read:
//
//	{"amount":1,"":"{\"amount\":1,\"note\":\"\\u0000\"}"}
//
// No predicate can test the member "".
const keptMark = ' '

// sentMember is the name of the member with the original text, as a JSON string.
const sentMember = ""

// keptProperties returns the stored form of a text.
func keptProperties(sent json.RawMessage) string {
	if len(sent) > 0 && sent[0] != keptMark && isReadAlike(sent) {
		return string(sent)
	}
	readable := readableMembers(sent)
	text, err := json.Marshal(string(sent))
	if err != nil {
		return "{}" // no string fails
	}
	readable[sentMember] = text
	kept, err := json.Marshal(readable)
	if err != nil {
		return "{}" // marshalling members that were read cannot fail
	}
	return string(keptMark) + string(kept)
}

// sentProperties returns the original text of a stored form.
func sentProperties(kept string) json.RawMessage {
	if kept == "" || kept[0] != keptMark {
		return json.RawMessage(kept)
	}
	var members map[string]json.RawMessage
	var sent string
	if json.Unmarshal([]byte(kept), &members) != nil || json.Unmarshal(members[sentMember], &sent) != nil {
		return json.RawMessage(kept) // still valid JSON
	}
	return json.RawMessage(sent)
}

// isReadAlike reports whether both engines can read the text and read the same from it.
func isReadAlike(text []byte) bool {
	if !jsontext.Value(text).IsValid() { // no repeated names, and valid characters
		return false
	}
	if !bytes.Contains(text, []byte(`\u0000`)) {
		return true
	}
	d := jsontext.NewDecoder(bytes.NewReader(text))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return true // the end of the text
		}
		if token.Kind() == '"' && strings.ContainsRune(token.String(), 0) {
			return false
		}
	}
}

// readableMembers returns the members of an object that both engines read alike. Of
// repeated members the last counts.
func readableMembers(text []byte) map[string]json.RawMessage {
	readable := map[string]json.RawMessage{}
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if open, err := d.ReadToken(); err != nil || open.Kind() != '{' {
		return readable
	}
	for {
		name, err := d.ReadToken()
		if err != nil || name.Kind() != '"' {
			return readable
		}
		of := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return readable
		}
		delete(readable, of)
		if isReadAlike(value) && !strings.ContainsRune(of, 0) {
			readable[of] = bytes.Clone(value)
		}
	}
}
