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

// checkMethod checks that the method of a request is served and that the SDK can decode its
// params. For a tool call, it also checks that the tool exists and that the caller has its
// scopes.
func (s *toolset) checkMethod(x *exchange) error {
	modern := x.revision == revision20260728
	served := legacyMethods
	if modern {
		served = modernMethods
	}
	if !slices.Contains(served, x.message.method) {
		return &rpcError{status: statusOf(modern, http.StatusNotFound), code: jsonrpc.CodeMethodNotFound, message: "this method is not served at revision " + x.revision}
	}
	switch x.message.method {
	case methodInitialize:
		return checkInitialize(&x.message)
	case methodListTools:
		return checkCursor(&x.message, modern)
	case methodReadResource:
		return noResource(x.message.params.URI, modern)
	case methodCallTool:
		return s.checkCall(x, modern)
	}
	return nil
}

// checkNotification refuses a message that has no id although its method requires a
// response, for example a tool call. The sender would get no response and believe that the
// tool was called. checkNotification accepts every notification, as JSON-RPC requires.
func checkNotification(m *message) error {
	if strings.HasPrefix(m.method, "notifications/") {
		return nil
	}
	return invalidRequest(nil, "a request needs an `id`")
}

// statusOf returns the HTTP status of a JSON-RPC error. At protocol revision 2026-07-28
// (modern is true) that is the given status. At earlier revisions it is 200.
func statusOf(modern bool, status int) int {
	if modern {
		return status
	}
	return http.StatusOK
}

// checkInitialize checks that the SDK can decode the params of initialize and that they
// have a protocol version.
func checkInitialize(m *message) error {
	encoded, err := stdjson.Marshal(m.params.Others)
	var p mcp.InitializeParams
	if err != nil || stdjson.Unmarshal(encoded, &p) != nil || p.ProtocolVersion == "" {
		return invalidParams(http.StatusOK, "initialize takes `protocolVersion`, `capabilities` and `clientInfo`")
	}
	return nil
}

// checkCursor fails for tools/list with a cursor, because the list has only one page. The
// SDK would try to decode the cursor.
func checkCursor(m *message, modern bool) error {
	if m.params.Cursor == "" {
		return nil
	}
	return invalidParams(statusOf(modern, http.StatusBadRequest), "the list of tools has one page; leave `cursor` out")
}

// noResource returns the error for a request to read a resource. This server has no
// resources. The error code depends on the protocol revision.
func noResource(uri string, modern bool) error {
	refusal := &rpcError{
		status: http.StatusOK, code: codeResourceNotFound,
		message: "there is no such resource; this server has tools only", cause: causeUnknownResource,
		data: map[string]string{"uri": core.Quotable(uri, 2000)},
	}
	if modern {
		refusal.status, refusal.code = http.StatusBadRequest, jsonrpc.CodeInvalidParams
	}
	return refusal
}

// checkCall fails for an unknown tool, invalid params or a missing scope. These refusals
// have their own HTTP status, which a tool's handler cannot set.
func (s *toolset) checkCall(x *exchange, modern bool) error {
	p := &x.message.params
	t, ok := s.byName[p.Name]
	if !ok {
		refusal := invalidParams(statusOf(modern, http.StatusBadRequest),
			"there is no tool `"+core.Quotable(p.Name, 80)+"`; tools/list returns the tools that this credential may call")
		refusal.cause = causeUnknownTool
		return refusal
	}
	x.tool, x.call = p.Name, new(mcp.CallToolParamsRaw)
	if stdjson.Unmarshal(x.message.rawParams, x.call) != nil {
		return invalidParams(statusOf(modern, http.StatusBadRequest), "each of `inputResponses` must be the result of the request it answers")
	}
	refusal := core.AsError(t.checkAllowed(x.principal))
	if refusal != nil && refusal.Code == core.CodeInvalidScope {
		return refusal
	}
	return nil // a tool that the credential's environment forbids is refused later, with a tool error
}

// membersOf returns the members of a JSON object. It returns nil for any other value.
func membersOf(object jsontext.Value) map[string]jsontext.Value {
	var members map[string]jsontext.Value
	if json.Unmarshal(object, &members) != nil {
		return nil
	}
	return members
}
