package activities

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Properties of activities are shown to the byte as they were sent, and predicates read
// them in SQL. Some JSON the engines read differently or not at all: PostgreSQL fails on a
// whole text for one \u0000 or half a surrogate pair in it, and of a member that is named
// twice one engine takes the first and the other the last. Such a text is kept beside what
// predicates may read of it, in an object that begins with the mark:
//
//	{"amount":1,"":"{\"amount\":1,\"note\":\"\\u0000\"}"}
//
// Predicates test members by a name, and "" is none.
const keptMark = ' '

// sentMember holds the text as it was sent, as a JSON string.
const sentMember = ""

// keptProperties is a text as it is stored.
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
		return "{}" // members that were read always marshal
	}
	return string(keptMark) + string(kept)
}

// sentProperties gives back what keptProperties was given.
func sentProperties(kept string) json.RawMessage {
	if kept == "" || kept[0] != keptMark {
		return json.RawMessage(kept)
	}
	var members map[string]json.RawMessage
	var sent string
	if json.Unmarshal([]byte(kept), &members) != nil || json.Unmarshal(members[sentMember], &sent) != nil {
		return json.RawMessage(kept) // JSON all the same
	}
	return json.RawMessage(sent)
}

// isReadAlike reports whether both engines read the text, and the same of it.
func isReadAlike(text []byte) bool {
	if !jsontext.Value(text).IsValid() { // names once, and characters that are some
		return false
	}
	if !bytes.Contains(text, []byte(`\u0000`)) {
		return true
	}
	d := jsontext.NewDecoder(bytes.NewReader(text))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return true // its end
		}
		if token.Kind() == '"' && strings.ContainsRune(token.String(), 0) {
			return false
		}
	}
}

// readableMembers are the members of an object that both engines read alike, the last of
// those with one name.
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
