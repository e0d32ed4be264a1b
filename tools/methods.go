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

const (
	methodInitialize   = "initialize"
	methodPing         = "ping"
	methodDiscover     = "server/discover"
	methodListTools    = "tools/list"
	methodCallTool     = "tools/call"
	methodReadResource = "resources/read"
)

// Methods that are served: from 2026-07-28 on there is no handshake and no ping.
// The SDK would answer several more, for which this server has no capability.
var (
	modernMethods = []string{methodDiscover, methodListTools, methodCallTool, methodReadResource}
	legacyMethods = []string{methodInitialize, methodPing, methodListTools, methodCallTool, methodReadResource}
)

// codeResourceNotFound is what revisions before 2026-07-28 have for a resource
// that is not there.
const codeResourceNotFound = -32002

// checkMethod checks what depends on the method: that it is served, that its params have the
// form that the SDK decodes, and for a call that the tool exists and the caller holds its
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

// checkNotification: a call without an id is no notification but a mistake, and
// its sender must not believe that it was carried out. Notifications proper are
// all accepted, as JSON-RPC has it.
func checkNotification(m *message) error {
	if strings.HasPrefix(m.method, "notifications/") {
		return nil
	}
	return invalidRequest(nil, "a request needs an `id`")
}

// statusOf: revisions before 2026-07-28 answer every JSON-RPC error of a request
// that could be read with 200; the newest one maps codes to statuses.
func statusOf(modern bool, status int) int {
	if modern {
		return status
	}
	return http.StatusOK
}

func checkInitialize(m *message) error {
	encoded, err := stdjson.Marshal(m.params.Others)
	var p mcp.InitializeParams
	if err != nil || stdjson.Unmarshal(encoded, &p) != nil || p.ProtocolVersion == "" {
		return invalidParams(http.StatusOK, "initialize takes `protocolVersion`, `capabilities` and `clientInfo`")
	}
	return nil
}

// checkCursor: the list has one page. The SDK would decode what it is given.
func checkCursor(m *message, modern bool) error {
	if m.params.Cursor == "" {
		return nil
	}
	return invalidParams(statusOf(modern, http.StatusBadRequest), "the list of tools has one page; leave `cursor` out")
}

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

// checkCall refuses here what a tool's handler could not: only before the SDK
// has the request is its HTTP status still ours to choose.
func (s *toolset) checkCall(x *exchange, modern bool) error {
	p := &x.message.params
	t, ok := s.byName[p.Name]
	if !ok {
		refusal := invalidParams(statusOf(modern, http.StatusBadRequest),
			"there is no tool `"+core.Quotable(p.Name, 80)+"`; tools/list has those this credential may call")
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
	return nil // the environment rail answers as a tool
}

// membersOf is nil for anything but an object.
func membersOf(object jsontext.Value) map[string]jsontext.Value {
	var members map[string]jsontext.Value
	if json.Unmarshal(object, &members) != nil {
		return nil
	}
	return members
}
