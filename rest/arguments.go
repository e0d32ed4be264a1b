package rest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/mailhelm/mailhelm/core"
)

// arguments gathers path and query, or path and body, into one JSON object. It
// writes JSON that the operation then checks; it checks only what would be lost
// in that object: a parameter given twice, or by two parts of the request.
func (m *mount) arguments(c *gin.Context) (json.RawMessage, error) {
	object := make([]byte, 1, 128)
	object[0] = '{'
	for i, p := range m.inPath {
		text, err := url.PathUnescape(c.Params[i].Value)
		if err != nil {
			return nil, core.Invalid(p.name, "is not percent-encoded correctly in the path")
		}
		object = append(object, p.prefix...)
		if object, err = appendText(object, p.name, text); err != nil {
			return nil, err
		}
		object = append(object, ',')
	}
	if m.takesBody() {
		return m.withBody(c, object)
	}
	if err := refuseBody(c.Request); err != nil {
		return nil, err
	}
	object, err := m.appendQuery(object, c.Request.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	return closeObject(object), nil
}

// closeObject ends an object whose members each end in a comma.
func closeObject(object []byte) []byte {
	if last := len(object) - 1; object[last] == ',' {
		object[last] = '}'
		return object
	}
	return append(object, '}')
}

// appendQuery adds the parameters of a query as members, in a fixed order.
func (m *mount) appendQuery(object []byte, query string) ([]byte, error) {
	if query == "" {
		return object, nil
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, core.Invalid("", "has a query that is not encoded correctly")
	}
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if object, err = m.appendParameter(object, name, values[name]); err != nil {
			return nil, err
		}
	}
	return object, nil
}

func (m *mount) appendParameter(object []byte, name string, values []string) ([]byte, error) {
	shown := core.Quotable(name, 80)
	if m.namesInPath(name) {
		return nil, core.Invalid(shown, "is given by the path and may not be repeated in the query")
	}
	if len(values) > 1 {
		return nil, core.Invalid(shown, "is given more than once in the query")
	}
	object, err := appendText(object, shown, name)
	if err != nil {
		return nil, err
	}
	object = append(object, ':')
	if text := values[0]; m.inQuery[name].fits(text) {
		object = append(object, text...)
	} else if object, err = appendText(object, shown, text); err != nil {
		return nil, err
	}
	return append(object, ','), nil
}

// fits reports whether the text is a JSON value of the type. One that does not
// fit goes on as a string, so that the schema refuses it and says what it wants.
func (t queryType) fits(text string) bool {
	switch t {
	case queryBoolean:
		return text == "true" || text == "false"
	case queryInteger:
		digits := strings.TrimPrefix(text, "-")
		return digits != "" && strings.Trim(digits, "0123456789") == "" && (digits == "0" || digits[0] != '0')
	}
	return false
}

// appendText adds a JSON string; field is what to blame when it is not UTF-8.
func appendText(object []byte, field, text string) ([]byte, error) {
	object, err := jsontext.AppendQuote(object, text)
	if err != nil {
		return nil, core.Invalid(field, "is not valid UTF-8")
	}
	return object, nil
}

// withBody puts the members of the path in front of those of the body. The body
// itself is checked by the operation, with everything else.
func (m *mount) withBody(c *gin.Context, object []byte) (json.RawMessage, error) {
	if err := refuseQuery(c.Request.URL.RawQuery); err != nil {
		return nil, err
	}
	body, err := readBody(c.Writer, c.Request, cmp.Or(m.MaxBody, maxBody))
	if err == nil && m.Items != "" {
		return m.items(c, body)
	}
	if err != nil || len(m.inPath) == 0 {
		return body, err
	}
	members, isObject := bytes.CutPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{"))
	if !isObject {
		return body, nil // the schema says what it wants instead
	}
	if err := m.refuseRepeated(body); err != nil {
		return nil, err
	}
	if rest := bytes.TrimLeft(members, " \t\r\n"); len(rest) > 0 && rest[0] == '}' {
		object = object[:len(object)-1] // an empty object: no comma
	}
	return append(object, members...), nil
}

// refuseRepeated fails when the body names what the path names. What is wrong
// with the body otherwise is for the operation's own check to say.
func (m *mount) refuseRepeated(body []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(body))
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	for {
		name, err := d.ReadToken()
		if err != nil || name.Kind() != '"' {
			return nil
		}
		if m.namesInPath(name.String()) {
			return core.Invalid(name.String(), "is given by the path and may not be repeated in the body")
		}
		if d.SkipValue() != nil {
			return nil
		}
	}
}
