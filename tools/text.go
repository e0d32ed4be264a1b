package tools

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// marshal writes a value the way a result's text shows it: JSON without spaces,
// which models read well and pay least for, and without the escapes for HTML,
// which nothing here is. Characters that a reader cannot see stay in it, because
// programs read it and may write back what they read; see [visibleJSON].
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// visibleJSON is JSON as a text for a model: without the characters that a reader
// does not see, which JSON holds as they are or, those that control, as escapes.
// It returns how many it left out. Newlines and tabs stay, as the escapes they are.
func visibleJSON(value json.RawMessage) (string, int) {
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

// escapeAt is the length of the escape that JSON text begins with, and whether it
// stands for a control character. The encoder writes no surrogates as escapes.
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

// wireLength is how long JSON is as the text of a result, which is itself a
// string in JSON, where the protocol layer also escapes what HTML would mark up.
func wireLength(value []byte) int {
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
