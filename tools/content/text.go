package content

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// Marshal returns a value as JSON without spaces, which need the fewest tokens of a model,
// and without HTML escapes. It keeps invisible characters, because programs may write back
// what they read; see [VisibleJSON].
func Marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// VisibleJSON returns JSON as a text for a model, without invisible characters, whether
// literal or escaped. It also returns how many it removed. Newlines and tabs stay, as
// escapes.
func VisibleJSON(value json.RawMessage) (string, int) {
	text, removed := core.VisibleText(string(value))
	if !strings.Contains(text, `\`) {
		return text, removed
	}
	var b strings.Builder
	b.Grow(len(text))
	for {
		at := strings.IndexByte(text, '\\')
		if at < 0 {
			b.WriteString(text)
			return b.String(), removed
		}
		b.WriteString(text[:at])
		n, hides := escapeAt(text[at:])
		if hides {
			removed++
		} else {
			b.WriteString(text[at : at+n])
		}
		text = text[at+n:]
	}
}

// escapeAt returns the length of the escape at the start of a JSON text, and whether it is a
// control character. The encoder writes no surrogates as escapes.
func escapeAt(text string) (int, bool) {
	switch text[1] {
	case 'b', 'f', 'r':
		return 2, true
	case 'u':
		code, err := strconv.ParseUint(text[2:6], 16, 16)
		return 6, err == nil && code < ' '
	}
	return 2, false
}

// WireLength returns the length in bytes of JSON when it is sent as the text of a result.
// There it is itself a JSON string, and the protocol layer also escapes the characters of
// HTML.
func WireLength(value []byte) int {
	n := len(value) + len(`""`)
	for _, c := range value {
		switch c {
		case '"', '\\':
			n++
		case '<', '>', '&':
			n += len(`\u003c`) - 1
		}
	}
	return n
}
