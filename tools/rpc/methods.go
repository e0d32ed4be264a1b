package rpc

import (
	stdjson "encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/mailhelm/mailhelm/core"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// These are the MCP methods and notifications that this server serves.
const (
	MethodInitialize   = "initialize"
	methodPing         = "ping"
	methodDiscover     = "server/discover"
	MethodListTools    = "tools/list"
	MethodCallTool     = "tools/call"
	methodReadResource = "resources/read"
)

// The methods that the server serves: modernMethods from protocol revision 2026-07-28 on,
// and legacyMethods before it. Revision 2026-07-28 has neither a handshake nor ping. The
// SDK would serve further methods, but this server does not declare the capabilities for
// them.
var (
	modernMethods = []string{methodDiscover, MethodListTools, MethodCallTool, methodReadResource}
	legacyMethods = []string{MethodInitialize, methodPing, MethodListTools, MethodCallTool, methodReadResource}
)

// knownMethods lists the methods and notifications of MCP that clients of this server send.
var knownMethods = slices.Concat(modernMethods, legacyMethods, []string{
	"notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/roots/list_changed",
})

// IsKnownMethod reports whether the message has a method or notification that clients of
// this server send. Metrics and spans must not have other names, because callers can invent
// any number of them.
func (m *Message) IsKnownMethod() bool { return slices.Contains(knownMethods, m.Method) }

// codeResourceNotFound is the JSON-RPC error code for a resource that does not exist, in
// protocol revisions before 2026-07-28.
const codeResourceNotFound = -32002

// checkMethod checks that the method of the request is served and that the SDK can decode
// its params. The caller checks the tool of a tool call.
func (m *Message) checkMethod() error {
	served := legacyMethods
	if m.IsModern() {
		served = modernMethods
	}
	if !slices.Contains(served, m.Method) {
		return &Error{Status: m.statusOf(http.StatusNotFound), Code: jsonrpc.CodeMethodNotFound, Message: "this method is not served at revision " + m.Revision}
	}
	switch m.Method {
	case MethodInitialize:
		return m.checkInitialize()
	case MethodListTools:
		return m.checkCursor()
	case methodReadResource:
		return m.noResource()
	}
	return nil
}

// checkNotification refuses a message that has no id although its method requires a
// response, for example a tool call. The sender would get no response and believe that the
// tool was called. checkNotification accepts every notification, as JSON-RPC requires.
func (m *Message) checkNotification() error {
	if strings.HasPrefix(m.Method, "notifications/") {
		return nil
	}
	return invalidRequest(nil, "a request needs an `id`")
}

// statusOf returns the HTTP status of a JSON-RPC error: from protocol revision 2026-07-28 on
// the given status, before it 200.
func (m *Message) statusOf(status int) int {
	if m.IsModern() {
		return status
	}
	return http.StatusOK
}

// checkInitialize checks that the SDK can decode the params of initialize and that they
// have a protocol version.
func (m *Message) checkInitialize() error {
	encoded, err := stdjson.Marshal(m.Params.Others)
	var p mcp.InitializeParams
	if err != nil || stdjson.Unmarshal(encoded, &p) != nil || p.ProtocolVersion == "" {
		return invalidParams(http.StatusOK, "initialize takes `protocolVersion`, `capabilities` and `clientInfo`")
	}
	return nil
}

// checkCursor fails for tools/list with a cursor, because the list has only one page. The
// SDK would try to decode the cursor.
func (m *Message) checkCursor() error {
	if m.Params.Cursor == "" {
		return nil
	}
	return m.InvalidParams("the list of tools has one page; leave `cursor` out")
}

// noResource returns the error for a request to read a resource. This server has no
// resources. The error code depends on the protocol revision.
func (m *Message) noResource() error {
	refusal := &Error{
		Status: http.StatusOK, Code: codeResourceNotFound,
		Message: "there is no such resource; this server has tools only", Cause: causeUnknownResource,
		Data: map[string]string{"uri": core.Quotable(m.Params.URI, 2000)},
	}
	if m.IsModern() {
		refusal.Status, refusal.Code = http.StatusBadRequest, jsonrpc.CodeInvalidParams
	}
	return refusal
}

// InvalidParams returns the error for params that the method of the message does not accept.
func (m *Message) InvalidParams(reason string) *Error {
	refusal := invalidParams(m.statusOf(http.StatusBadRequest), reason)
	refusal.ID = m.ID
	return refusal
}

// Members returns the members of a JSON object. It returns nil for any other value.
func Members(object jsontext.Value) map[string]jsontext.Value {
	var members map[string]jsontext.Value
	if json.Unmarshal(object, &members) != nil {
		return nil
	}
	return members
}
