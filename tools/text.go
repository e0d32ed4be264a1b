package tools

import (
	"bytes"
	"encoding/json"
)

// marshal writes a value the way a result's text shows it: JSON without spaces,
// which models read well and pay least for, and without the escapes for HTML,
// which nothing here is. Control characters become visible escapes; characters
// that hide as they are get removed from the text, see [core.VisibleText], and
// stay in the structured content, which programs read and may write back.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
