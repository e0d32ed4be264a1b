package tools

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
	methodInitialize   = "initialize"
	methodPing         = "ping"
	methodDiscover     = "server/discover"
	methodListTools    = "tools/list"
	methodCallTool     = "tools/call"
	methodReadResource = "resources/read"
)

// The methods that the server serves: modernMethods from protocol revision 2026-07-28 on,
// and legacyMethods before it. Revision 2026-07-28 has neither a handshake nor ping. The
// SDK would serve further methods, but this server does not declare the capabilities for
// them.
var (
	modernMethods = []string{methodDiscover, methodListTools, methodCallTool, methodReadResource}
	legacyMethods = []string{methodInitialize, methodPing, methodListTools, methodCallTool, methodReadResource}
)

// codeResourceNotFound is the JSON-RPC error code for a resource that does not exist, in
// protocol revisions before 2026-07-28.
const codeResourceNotFound = -32002

// checkMethod checks that the method of the request is served and that the SDK can decode
// its params. For a tool call, the caller must check the tool and its params.
func (m *message) checkMethod() error {
	served := legacyMethods
	if m.isModern() {
		served = modernMethods
	}
	if !slices.Contains(served, m.method) {
		return &rpcError{status: m.statusOf(http.StatusNotFound), code: jsonrpc.CodeMethodNotFound, message: "this method is not served at revision " + m.revision}
	}
	switch m.method {
	case methodInitialize:
		return m.checkInitialize()
	case methodListTools:
		return m.checkCursor()
	case methodReadResource:
		return m.noResource()
	}
	return nil
}

// checkNotification refuses a message that has no id although its method requires a
// response, for example a tool call. The sender would get no response and believe that the
// tool was called. checkNotification accepts every notification, as JSON-RPC requires.
func (m *message) checkNotification() error {
	if strings.HasPrefix(m.method, "notifications/") {
		return nil
	}
	return invalidRequest(nil, "a request needs an `id`")
}

// statusOf returns the HTTP status of a JSON-RPC error: from protocol revision 2026-07-28 on
// the given status, before it 200.
func (m *message) statusOf(status int) int {
	if m.isModern() {
		return status
	}
	return http.StatusOK
}

// checkInitialize checks that the SDK can decode the params of initialize and that they
// have a protocol version.
func (m *message) checkInitialize() error {
	encoded, err := stdjson.Marshal(m.params.Others)
	var p mcp.InitializeParams
	if err != nil || stdjson.Unmarshal(encoded, &p) != nil || p.ProtocolVersion == "" {
		return invalidParams(http.StatusOK, "initialize takes `protocolVersion`, `capabilities` and `clientInfo`")
	}
	return nil
}

// checkCursor fails for tools/list with a cursor, because the list has only one page. The
// SDK would try to decode the cursor.
func (m *message) checkCursor() error {
	if m.params.Cursor == "" {
		return nil
	}
	return m.invalidParams("the list of tools has one page; leave `cursor` out")
}

// noResource returns the error for a request to read a resource. This server has no
// resources. The error code depends on the protocol revision.
func (m *message) noResource() error {
	refusal := &rpcError{
		status: http.StatusOK, code: codeResourceNotFound,
		message: "there is no such resource; this server has tools only", cause: causeUnknownResource,
		data: map[string]string{"uri": core.Quotable(m.params.URI, 2000)},
	}
	if m.isModern() {
		refusal.status, refusal.code = http.StatusBadRequest, jsonrpc.CodeInvalidParams
	}
	return refusal
}

// invalidParams returns the error for params that a method does not accept.
func (m *message) invalidParams(reason string) *rpcError {
	refusal := invalidParams(m.statusOf(http.StatusBadRequest), reason)
	refusal.id = m.id
	return refusal
}

// membersOf returns the members of a JSON object. It returns nil for any other value.
func membersOf(object jsontext.Value) map[string]jsontext.Value {
	var members map[string]jsontext.Value
	if json.Unmarshal(object, &members) != nil {
		return nil
	}
	return members
}
