package rpc

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/mailhelm/mailhelm/core"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Message has the members of a JSON-RPC request or notification that the server reads.
type Message struct {
	ID     jsontext.Value // the request's id, unchanged; nil for a notification
	Method string
	Params Params
	// RawParams is the JSON text of params; nil for a message without params.
	RawParams stdjson.RawMessage
	// Revision is the protocol revision that the request names, one of [Revisions].
	Revision string
}

// Read decodes the only message of a body into m and checks it, with the headers h of its
// HTTP request: the protocol revision, the method and its params. It does not check the tool
// of a tool call. It fails with an [*Error]; m then has what was read before the fault.
// places has the paths of members that may contain any JSON; elsewhere core.CheckJSON
// refuses duplicate names before the message is decoded.
func (m *Message) Read(body []byte, h http.Header, places *core.AnyPaths) error {
	if err := m.decode(body, places); err != nil {
		return err
	}
	err := m.readRevision(h)
	switch {
	case err != nil:
	case m.IsNotification():
		err = m.checkNotification()
	default:
		err = m.checkMethod()
	}
	if refusal, ok := errors.AsType[*Error](err); ok {
		refusal.ID = m.ID
	}
	return err
}

// IsNotification reports whether the message has no id. A message without an id gets no
// response.
func (m *Message) IsNotification() bool { return m.ID == nil }

// IsModern reports whether the message follows protocol revision 2026-07-28, which has
// neither a handshake nor sessions.
func (m *Message) IsModern() bool { return m.Revision == revision20260728 }

// SDKID returns the message's id in the SDK's type. It fails for an id that is neither a
// string nor an integer.
func (m *Message) SDKID() (jsonrpc.ID, error) {
	var id any
	if err := json.Unmarshal(m.ID, &id); err != nil {
		return jsonrpc.ID{}, err
	}
	return jsonrpc.MakeID(id)
}

// Params has the parameters of a JSON-RPC request that this server reads, for all methods
// together. Member names are case-sensitive, as in the SDK.
type Params struct {
	Name           string                    `json:"name"`
	Arguments      jsontext.Value            `json:"arguments"`
	InputResponses map[string]jsontext.Value `json:"inputResponses"`
	RequestState   string                    `json:"requestState"`
	Cursor         string                    `json:"cursor"`
	URI            string                    `json:"uri"`
	Meta           Meta                      `json:"_meta"`
	Others         map[string]jsontext.Value `json:",embed"` //nolint:staticcheck // the tag is one of json/v2
}

// Meta has the members of _meta that this server reads. From protocol revision 2026-07-28
// on, every request has the revision and the client's capabilities there.
type Meta struct {
	ProtocolVersion string                    `json:"io.modelcontextprotocol/protocolVersion"`
	Capabilities    jsontext.Value            `json:"io.modelcontextprotocol/clientCapabilities"`
	IdempotencyKey  jsontext.Value            `json:"dev.service/idempotencyKey"`
	Others          map[string]jsontext.Value `json:",embed"` //nolint:staticcheck // the tag is one of json/v2
}

// envelope is a JSON-RPC message whose members are not decoded yet. Others has the members
// with unknown names, so that misspelled names are found.
type envelope struct {
	Version string                    `json:"jsonrpc"`
	ID      jsontext.Value            `json:"id"`
	Method  jsontext.Value            `json:"method"`
	Params  jsontext.Value            `json:"params"`
	Others  map[string]jsontext.Value `json:",embed"` //nolint:staticcheck // the tag is one of json/v2
}

// checked has the options for decoding JSON that core.CheckJSON has accepted. Duplicate
// names and invalid characters can then occur only in members that may contain any JSON.
var checked = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// IsBatch reports whether the body begins like a JSON array, which is a batch in JSON-RPC.
func IsBatch(body []byte) bool {
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	return len(trimmed) > 0 && trimmed[0] == '['
}

// decode decodes the message of a body into m. It fails for a text that is not exactly one
// JSON-RPC message.
func (m *Message) decode(body []byte, places *core.AnyPaths) error {
	if err := places.CheckJSON(body); err != nil {
		return jsonRefusal(body, err)
	}
	var e envelope
	if err := json.Unmarshal(body, &e, checked); err != nil {
		return invalidRequest(nil, "the body is not a JSON-RPC 2.0 request object")
	}
	if !isMessageID(e.ID) {
		return invalidRequest(nil, "`id` must be a string or an integer")
	}
	if name := findMisspelled(e.Others, "jsonrpc", "id", "method", "params"); name != "" {
		return invalidRequest(e.ID, "member names are matched exactly, and `"+name+"` is not one")
	}
	if e.Version != "2.0" {
		return invalidRequest(e.ID, "`jsonrpc` must be \"2.0\"")
	}
	if e.Method.Kind() != '"' {
		return invalidRequest(e.ID, "`method` must be a string")
	}
	m.ID = e.ID
	if err := json.Unmarshal(e.Method, &m.Method); err != nil {
		return invalidRequest(e.ID, "`method` must be a string")
	}
	return m.decodeParams(e.Params)
}

// decodeParams decodes the params of a message into m. It fails if they are not an object,
// or if a member is misspelled or has the wrong type.
func (m *Message) decodeParams(raw jsontext.Value) error {
	if len(raw) == 0 {
		return nil
	}
	if raw.Kind() != '{' {
		return invalidRequest(m.ID, "`params` must be an object")
	}
	m.RawParams = stdjson.RawMessage(raw)
	if err := json.Unmarshal(raw, &m.Params, checked); err != nil {
		return &Error{ID: m.ID, Status: http.StatusBadRequest, Code: jsonrpc.CodeInvalidParams, Message: "a member of `params` has the wrong type"}
	}
	p := &m.Params
	name := findMisspelled(p.Others, "name", "arguments", "inputResponses", "requestState", "cursor", "uri", "_meta")
	if name == "" {
		name = findMisspelled(p.Meta.Others, metaProtocolVersion, metaCapabilities, MetaIdempotencyKey)
	}
	if name != "" {
		return invalidRequest(m.ID, "member names are matched exactly, and `"+name+"` is not one")
	}
	return nil
}

// findMisspelled returns the name of a member that differs from a known name only in case,
// or "". Such a member must be refused, because a program that ignores case would accept
// it.
func findMisspelled(others map[string]jsontext.Value, known ...string) string {
	for name := range others {
		for _, k := range known {
			if strings.EqualFold(name, k) {
				return core.Quotable(name, 80)
			}
		}
	}
	return ""
}

// isMessageID reports whether id is a valid message id of MCP: a string or an integer. It
// refuses integers beyond 2^53, because programs that use doubles would return another
// number. It accepts nil, the id of a notification.
func isMessageID(id jsontext.Value) bool {
	switch id.Kind() {
	case '"':
		return true
	case '0':
		digits := strings.TrimPrefix(string(id), "-")
		return len(digits) <= 16 && strings.Trim(digits, "0123456789") == "" && (len(digits) < 16 || digits <= "9007199254740991")
	default:
		return id == nil
	}
}

// jsonRefusal returns the JSON-RPC error for an invalid body. The code is -32700 if the
// body is not JSON. It is -32600 for JSON with duplicate names or with characters that
// cannot be stored.
func jsonRefusal(body []byte, err error) error {
	refusal := invalidRequest(nil, strings.TrimSuffix(core.AsError(err).Message, "."))
	if !jsontext.Value(body).IsValid(jsontext.AllowDuplicateNames(true)) {
		refusal.Code = jsonrpc.CodeParseError
	}
	return refusal
}

// invalidRequest returns the JSON-RPC error -32600 (invalid request) with status 400.
func invalidRequest(id jsontext.Value, message string) *Error {
	return &Error{ID: id, Status: http.StatusBadRequest, Code: jsonrpc.CodeInvalidRequest, Message: message}
}
