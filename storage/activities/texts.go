package activities

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// keptMark is the first byte of the stored properties of an activity if SQLite and
// PostgreSQL would read the original text differently. API reads return properties byte for
// byte as they were sent, and predicates read members in SQL.
//
// PostgreSQL rejects a text with \u0000 or half a surrogate pair. For a repeated member one
// engine uses the first value, the other the last. Such a text is stored as an object with
// the readable members, plus the original text in the member "":
//
//	{"amount":1,"":"{\"amount\":1,\"note\":\"\\u0000\"}"}
//
// No predicate can test the member "".
const keptMark = ' '

// sentMember is the name of the member in which the original text of the properties is
// stored, as a JSON string. The name is empty.
const sentMember = ""

// keptProperties returns the form in which the properties of an activity are stored;
// keptMark describes it.
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
		return "{}" // no error is possible for members that were read as JSON
	}
	return string(keptMark) + string(kept)
}

// sentProperties returns the properties as they were sent. kept is the form in which they
// are stored.
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

// isReadAlike reports whether SQLite and PostgreSQL can both read the JSON text and get the
// same values from it.
func isReadAlike(text []byte) bool {
	if !jsontext.Value(text).IsValid() { // invalid: a repeated name, or an invalid character
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

// readableMembers returns the members of a JSON object that SQLite and PostgreSQL read
// alike. Of a repeated member it returns the last.
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
