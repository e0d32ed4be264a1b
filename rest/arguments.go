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

// arguments returns the arguments of an operation as one JSON object: the path parameters,
// and the query or the body. The operation checks the object against its schema. arguments
// itself fails only for faults that a JSON object cannot represent, such as a query
// parameter that occurs twice.
func (m *mount) arguments(c *gin.Context) (json.RawMessage, error) {
	texts := make([]string, len(m.inPath))
	for i, p := range m.inPath {
		text, err := url.PathUnescape(c.Params[i].Value)
		if err != nil {
			return nil, core.Invalid(p.name, "is not percent-encoded correctly in the path")
		}
		texts[i] = text
	}
	if m.TakesBody() {
		return m.withBody(c, texts)
	}
	if err := refuseBody(c.Request); err != nil {
		return nil, err
	}
	object, err := m.openObject(texts, nil)
	if err != nil {
		return nil, err
	}
	if object, err = m.appendQuery(object, c.Request.URL.RawQuery); err != nil {
		return nil, err
	}
	return closeObject(object), nil
}

// openObject returns the beginning of the JSON object of an operation's arguments: the path
// parameters with the values in texts. It omits the path parameters in inBody, which the
// request body contains, too.
func (m *mount) openObject(texts, inBody []string) ([]byte, error) {
	object := make([]byte, 1, 128)
	object[0] = '{'
	for i, p := range m.inPath {
		if slices.Contains(inBody, p.name) {
			continue
		}
		var err error
		object = append(object, p.prefix...)
		if object, err = appendText(object, p.name, texts[i]); err != nil {
			return nil, err
		}
		object = append(object, ',')
	}
	return object, nil
}

// closeObject ends a JSON object in which every member ends with a comma: it replaces the
// last comma by "}".
func closeObject(object []byte) []byte {
	if last := len(object) - 1; object[last] == ',' {
		object[last] = '}'
		return object
	}
	return append(object, '}')
}

// appendQuery appends the query parameters to the JSON object as members, sorted by name.
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

// appendParameter appends one query parameter to the JSON object. It fails if the parameter
// occurs twice or is also a path parameter. The schema of the operation refuses unknown
// names later.
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
	if text := values[0]; m.queryType(name).fits(text) {
		object = append(object, text...)
	} else if object, err = appendText(object, shown, text); err != nil {
		return nil, err
	}
	return append(object, ','), nil
}

// fits reports whether the text of a query parameter is a JSON value of type t. Other text
// becomes a JSON string, which the operation's schema then refuses with the name of the
// type.
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

// appendText appends a text as a JSON string. It fails with the name of the field if the
// text is not valid UTF-8.
func appendText(object []byte, field, text string) ([]byte, error) {
	object, err := jsontext.AppendQuote(object, text)
	if err != nil {
		return nil, core.Invalid(field, "is not valid UTF-8")
	}
	return object, nil
}

// withBody returns the arguments of an operation: the path parameters, then the members of
// the JSON body. The operation checks the result.
func (m *mount) withBody(c *gin.Context, texts []string) (json.RawMessage, error) {
	if err := refuseQuery(c.Request.URL.RawQuery); err != nil {
		return nil, err
	}
	var body []byte
	var err error
	if m.OptionalBody && c.Request.ContentLength == 0 {
		body = []byte("{}")
	} else {
		body, err = readBody(c.Writer, c.Request, cmp.Or(m.MaxBody, maxBody))
	}
	if err == nil && m.Items != "" {
		return m.items(c, body)
	}
	if err != nil || len(m.inPath) == 0 {
		return body, err
	}
	members, isObject := bytes.CutPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{"))
	if !isObject {
		return body, nil // the schema refuses it
	}
	inBody, err := m.repeatedMembers(body, texts)
	if err != nil {
		return nil, err
	}
	object, err := m.openObject(texts, inBody)
	if err != nil {
		return nil, err
	}
	if rest := bytes.TrimLeft(members, " \t\r\n"); len(rest) > 0 && rest[0] == '}' {
		object = object[:len(object)-1] // an empty object: no comma
	}
	return append(object, members...), nil
}

// repeatedMembers returns the names of the path parameters that are also members of the
// body. They are allowed there, so that a client can send back the answer of a GET. It
// fails if a member differs from the path parameter of the same name. It ignores other
// faults of the body, which the operation reports.
func (m *mount) repeatedMembers(body []byte, texts []string) ([]string, error) {
	var names []string
	d := jsontext.NewDecoder(bytes.NewBuffer(body))
	if _, err := d.ReadToken(); err != nil {
		return nil, nil
	}
	for {
		token, err := d.ReadToken()
		if err != nil || token.Kind() != '"' {
			return names, nil
		}
		name := token.String()
		i := slices.IndexFunc(m.inPath, func(p pathMember) bool { return p.name == name })
		if i < 0 {
			if d.SkipValue() != nil {
				return names, nil
			}
			continue
		}
		value, err := d.ReadValue()
		if err != nil {
			return names, nil
		}
		if !m.isParameter(m.inPath[i], value, texts[i]) {
			return nil, core.Invalid(name, "is given by the path, and the body has another value; leave it out of the body")
		}
		names = append(names, name)
	}
}
