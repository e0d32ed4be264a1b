package content

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// Marshal returns a value as JSON without spaces and without HTML escapes, which uses the
// fewest tokens of a model. It keeps invisible characters, because programs may write back
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
// literal or escaped. It also returns the number of removed characters. It keeps newlines
// and tabs as escapes.
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

// escapeAt returns the length of the escape sequence at the start of a JSON text, and
// whether it stands for a control character to remove. It does not combine the two escapes
// of a surrogate pair, because the encoder never writes such escapes.
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

// WireLength returns the length in bytes of JSON that is sent as the text of a result. The
// text is a JSON string in the message, in which the SDK also escapes <, > and &.
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
