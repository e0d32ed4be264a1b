package rpc

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/mailhelm/mailhelm/core"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The protocol revisions on which the code of this package depends.
const (
	revision20260728 = "2026-07-28"
	revision20250326 = "2025-03-26"
)

// revisions has the protocol revisions that are served, newest first. An update of the SDK
// does not add revisions.
var revisions = []string{revision20260728, "2025-11-25", "2025-06-18", revision20250326, "2024-11-05"}

// Revisions returns the protocol revisions that are served, newest first.
func Revisions() []string { return slices.Clone(revisions) }

// The members of _meta that this server reads. MCP defines the first three, Mailhelm the
// last; the specification of Mailhelm fixes its name.
const (
	metaProtocolVersion = mcp.MetaKeyProtocolVersion
	metaCapabilities    = mcp.MetaKeyClientCapabilities
	metaClientInfo      = mcp.MetaKeyClientInfo
	// MetaIdempotencyKey is the member with the idempotency key of a tool call.
	MetaIdempotencyKey = "dev.service/idempotencyKey"
)

// readRevision sets the protocol revision of the message and checks that the request's
// headers agree with its body. From 2026-07-28 on, headers repeat the revision, the method
// and the tool, so that proxies can route requests without reading bodies. If headers and
// body differed, a proxy and this server would act on different requests.
func (m *Message) readRevision(h http.Header) error {
	named, err := singleValue(h, "Mcp-Protocol-Version")
	if err != nil {
		return err
	}
	inBody := m.Params.Meta.ProtocolVersion
	switch {
	case named != "" && !slices.Contains(revisions, named):
		return unsupportedRevision(named)
	case named == "" && inBody != "":
		return mismatch("the header MCP-Protocol-Version is required with `_meta` " + metaProtocolVersion)
	case inBody != "" && inBody != named:
		return mismatch("the header MCP-Protocol-Version and `_meta` " + metaProtocolVersion + " name different revisions")
	case named == "":
		// the revision that MCP prescribes for requests without the header
		// MCP-Protocol-Version
		named = revision20250326
	}
	m.Revision = named
	if !m.IsModern() {
		return nil
	}
	return m.checkModern(h)
}

// checkModern checks what protocol revision 2026-07-28 additionally requires: the headers
// Mcp-Method and Mcp-Name, and the revision and capabilities in _meta.
func (m *Message) checkModern(h http.Header) error {
	method, err := singleValue(h, "Mcp-Method")
	if err != nil {
		return err
	}
	if method != m.Method {
		return mismatch("the header Mcp-Method must be the body's `method`")
	}
	if m.IsNotification() {
		return nil
	}
	if m.Params.Meta.ProtocolVersion == "" {
		return invalidParams(http.StatusBadRequest, "`_meta` must have "+metaProtocolVersion)
	}
	if err := m.Params.Meta.checkClient(); err != nil {
		return err
	}
	var named string
	switch m.Method {
	case MethodCallTool:
		named = m.Params.Name
	case methodReadResource:
		named = m.Params.URI
	default:
		return nil
	}
	header, err := singleValue(h, "Mcp-Name")
	if err != nil {
		return err
	}
	if decoded, ok := decodeHeader(header); !ok || decoded != named {
		return mismatch("the header Mcp-Name must be the name in the body's `params`")
	}
	return nil
}

// checkClient checks that the SDK can decode what _meta says about the client: its
// capabilities, and its name if there is one.
func (m *Meta) checkClient() error {
	if m.Capabilities.Kind() != '{' || string(m.Capabilities) != "{}" && !decodes[mcp.ClientCapabilities](m.Capabilities) {
		return invalidParams(http.StatusBadRequest, "`_meta` must have the object "+metaCapabilities)
	}
	info, named := m.Others[metaClientInfo]
	if named && (info.Kind() != '{' || !decodes[mcp.Implementation](info)) {
		return invalidParams(http.StatusBadRequest, "`_meta` must have an object with a name and a version as "+metaClientInfo+", or leave it out")
	}
	return nil
}

// decodes reports whether a JSON value can be decoded as a value of the type T.
func decodes[T any](raw jsontext.Value) bool {
	var v T
	return json.Unmarshal(raw, &v, checked) == nil
}

// singleValue returns the value of a header, or "" if it is absent. It fails if the header
// occurs more than once.
func singleValue(h http.Header, name string) (string, error) {
	switch values := h[name]; len(values) {
	case 0:
		return "", nil
	case 1:
		return values[0], nil
	default:
		return "", mismatch("the header " + name + " must not be repeated")
	}
}

// decodeHeader returns the text of a header value. It decodes values of the form
// =?base64?..?=, which encode texts that a header cannot contain. It returns false for
// invalid Base64.
func decodeHeader(value string) (string, bool) {
	encoded, ok := strings.CutPrefix(value, "=?base64?")
	if ok {
		encoded, ok = strings.CutSuffix(encoded, "?=")
	}
	if !ok {
		return value, true
	}
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	return string(decoded), err == nil
}

// Elicits reports whether the client can show forms to a person (elicitation). It returns
// false before protocol revision 2026-07-28. A capability "elicitation" without members
// means that the client has forms.
func (m *Message) Elicits() bool {
	if !m.IsModern() {
		return false
	}
	elicitation := member(m.Params.Meta.Capabilities, "elicitation")
	if elicitation.Kind() != '{' {
		return false
	}
	return member(elicitation, "form").Kind() == '{' || len(Members(elicitation)) == 0
}

// mismatch returns the error for headers that do not agree with the body, with status 400.
func mismatch(message string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: mcp.CodeHeaderMismatch, Message: message}
}

// unsupportedRevision returns the error for a protocol revision that is not served. The
// error's data lists the served revisions.
func unsupportedRevision(requested string) *Error {
	return &Error{
		Status: http.StatusBadRequest, Code: mcp.CodeUnsupportedProtocolVersion, Message: "this protocol revision is not served",
		Data: mcp.UnsupportedProtocolVersionData{Supported: revisions, Requested: core.Quotable(requested, 80)},
	}
}

func invalidParams(status int, message string) *Error {
	return &Error{Status: status, Code: jsonrpc.CodeInvalidParams, Message: message}
}

// member returns a member of a JSON object. It returns nil if the member is absent or the
// value is not an object.
func member(object jsontext.Value, name string) jsontext.Value { return Members(object)[name] }
