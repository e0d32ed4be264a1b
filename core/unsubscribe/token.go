package unsubscribe

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
)

// The form of a token, in bytes: the version; flags that say which of the ids below are
// present; the ids of the organization, the contact and the send; the name of the topic; the
// signature of all of that. Unlike a UUID, the name of the topic needs no length, because it
// is what is left between the ids and the signature.
const (
	// version is the first byte of each token. It is signed, so that a later form of tokens
	// cannot be read as this one.
	version     = 1
	hasContact  = 1 << 0
	hasSend     = 1 << 1
	headBytes   = 2
	idBytes     = 16
	maxTopic    = 255
	idTextBytes = 36
	// signatureBytes is the length of the truncated HMAC-SHA-256 (RFC 2104 section 5). 128
	// bits cannot be guessed, and keep links short.
	signatureBytes = 16
)

// maxTokenText is the length of the longest token in base64.
var maxTokenText = base64.RawURLEncoding.EncodedLen(headBytes + 3*idBytes + maxTopic + signatureBytes)

// Token is the content of a link: for which organization it was made, and for whom.
type Token struct {
	OrgID string
	Recipient
}

// appendContent appends the content of a token, without the signature.
func appendContent(b []byte, t Token) ([]byte, error) {
	if len(t.Topic) > maxTopic {
		return b, fmt.Errorf("unsubscribe: the topic has %d bytes, more than %d", len(t.Topic), maxTopic)
	}
	var flags byte
	if t.ContactID != "" {
		flags |= hasContact
	}
	if t.SendID != "" {
		flags |= hasSend
	}
	b = append(b, version, flags)
	b, err := appendID(b, t.OrgID)
	if err == nil && t.ContactID != "" {
		b, err = appendID(b, t.ContactID)
	}
	if err == nil && t.SendID != "" {
		b, err = appendID(b, t.SendID)
	}
	return append(b, t.Topic...), err
}

// parseContent parses what appendContent wrote. It returns false for other content, such as
// that of another version.
func parseContent(b []byte) (Token, bool) {
	if len(b) < headBytes || b[0] != version || b[1]&^(hasContact|hasSend) != 0 {
		return Token{}, false
	}
	flags, rest := b[1], b[headBytes:]
	var t Token
	for _, field := range []struct {
		into    *string
		present bool
	}{{&t.OrgID, true}, {&t.ContactID, flags&hasContact != 0}, {&t.SendID, flags&hasSend != 0}} {
		if !field.present {
			continue
		}
		if len(rest) < idBytes {
			return Token{}, false
		}
		*field.into, rest = idText(rest[:idBytes]), rest[idBytes:]
	}
	t.Topic = string(rest)
	return t, true
}

// appendID appends the 16 bytes of a UUID in canonical form: 36 characters in lower case.
func appendID(b []byte, id string) ([]byte, error) {
	wrong := func() error { return fmt.Errorf("unsubscribe: the id %q is not a UUID in canonical form", id) }
	if len(id) != idTextBytes || id[8] != '-' || id[13] != '-' || id[18] != '-' || id[23] != '-' {
		return b, wrong()
	}
	for i := 0; i < len(id); {
		if id[i] == '-' && (i == 8 || i == 13 || i == 18 || i == 23) {
			i++
			continue
		}
		high, low := digit(id[i]), digit(id[i+1])
		if high < 0 || low < 0 {
			return b, wrong()
		}
		b = append(b, byte(high<<4|low))
		i += 2
	}
	return b, nil
}

// digit returns the value of a hexadecimal digit in lower case, -1 for any other character.
func digit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	}
	return -1
}

// idText returns the canonical form of the UUID with these 16 bytes.
func idText(id []byte) string {
	text := make([]byte, 0, idTextBytes)
	for i, group := range [][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:]} {
		if i > 0 {
			text = append(text, '-')
		}
		text = hex.AppendEncode(text, group)
	}
	return string(text)
}
