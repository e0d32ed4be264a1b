package rest

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/mailhelm/mailhelm/core"
)

// items returns the operation's arguments for a request body that is one item or a list of
// items. It first checks that the body is exactly one JSON value. Otherwise text after the
// value would become part of the arguments.
func (m *mount) items(c *gin.Context, body []byte) (json.RawMessage, error) {
	body = bytes.Trim(body, " \t\r\n")
	if !jsontext.Value(body).IsValid() {
		if err := m.anyPaths(body).CheckJSON(body); err != nil { // the error says where the body is invalid
			return nil, err
		}
	}
	arguments := make([]byte, 0, len(body)+len(m.Items)+len(`{"":[]}`))
	arguments = append(arguments, '{')
	arguments = strconv.AppendQuote(arguments, m.Items)
	arguments = append(arguments, ':')
	switch body[0] {
	case '[':
		arguments = append(arguments, body...)
	case '{':
		c.Set(singleItem, true)
		arguments = append(append(append(arguments, '['), body...), ']')
	default:
		return nil, core.Invalid("", "must be an object or an array of objects")
	}
	return append(arguments, '}'), nil
}

// anyPaths returns the paths in this body at which any JSON value is allowed.
func (m *mount) anyPaths(body []byte) *core.AnyPaths {
	list := m.operation.Input(core.REST).AnyPaths().Member(m.Items)
	if len(body) > 0 && body[0] == '{' {
		return list.Member("*")
	}
	return list
}

// singleItem is the key in the Gin context that is set if the body is a single item.
const singleItem = "mailhelm.single_item"

// fixPaths removes the synthetic `items` member from the paths of invalid fields, so that
// the paths are those of the body that was sent.
func (m *mount) fixPaths(c *gin.Context, err error) error {
	e := core.AsError(err)
	if m.Items == "" || e.Code != core.CodeValidationFailed || len(e.Fields) == 0 {
		return err
	}
	place := m.Items
	if c.GetBool(singleItem) {
		place += ".0"
	}
	named := *e
	named.Fields = make([]core.FieldError, len(e.Fields))
	for i, fault := range e.Fields {
		if fault.Field == place {
			fault.Field = ""
		}
		fault.Field = strings.TrimPrefix(fault.Field, place+".")
		named.Fields[i] = fault
	}
	named.Message = core.InvalidFields(named.Fields...).Message
	return &named
}

// itemsBody returns the OpenAPI schema of a body that is one item or a list of items.
func (m *mount) itemsBody(properties []property) object {
	for _, p := range properties {
		if p.name != m.Items {
			continue
		}
		var list struct {
			Items json.RawMessage `json:"items"`
		}
		_ = json.Unmarshal(p.schema, &list) // a schema of ours
		// The schema of an item in a list may allow any JSON value, because an invalid item
		// is reported in its own result and the other items are processed. A single item
		// must be an object.
		single := object{{"type", "object"}, {"allOf", []json.RawMessage{list.Items}}}
		return object{{"oneOf", []any{single, p.schema}}}
	}
	return object{}
}
