package rpc

import (
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/mailhelm/mailhelm/core"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// These are the names in the metrics for causes of refusals that have no error code of
// their own.
const (
	causeUnknownMethod   = "unknown_method"
	causeUnknownResource = "unknown_resource"
	causeInvalidJSON     = "invalid_json"
	causeInvalidRequest  = "invalid_request"
	causeInvalidParams   = "invalid_params"
	causeHeaderMismatch  = "header_mismatch"
	causeRevision        = "unsupported_revision"
)

// Error is the refusal of a request as a JSON-RPC error.
type Error struct {
	ID      jsontext.Value // the message's id; nil if it could not be read
	Status  int            // the HTTP status
	Code    int64
	Message string
	Data    any    // the member data; nil omits it
	Cause   string // the name of the cause in the metrics; if "", the name follows from Code
	// RetryAfter is the value of the Retry-After header in seconds; 0 omits the header.
	RetryAfter int
	// Counted is true if package guardrails has already counted the refusal in the metrics.
	Counted bool
}

// Error returns the message. With this method, Error implements the interface error.
func (e *Error) Error() string { return e.Message }

// Body returns the JSON-RPC error response as JSON.
func (e *Error) Body() []byte {
	type wireError struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data,omitempty"`
	}
	answer := struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   wireError       `json:"error"`
	}{"2.0", json.RawMessage("null"), wireError{e.Code, e.Message, e.Data}}
	if e.ID != nil {
		answer.ID = json.RawMessage(e.ID)
	}
	body, _ := json.Marshal(answer) // cannot fail for strings, numbers and valid JSON
	return body
}

// CauseName returns the name of the cause in the metrics: the member Cause, or a name for
// the error code. It is never a text of the caller.
func (e *Error) CauseName() string {
	if e.Cause != "" {
		return e.Cause
	}
	switch e.Code {
	case jsonrpc.CodeParseError:
		return causeInvalidJSON
	case jsonrpc.CodeInvalidRequest:
		return causeInvalidRequest
	case jsonrpc.CodeMethodNotFound:
		return causeUnknownMethod
	case jsonrpc.CodeInvalidParams:
		return causeInvalidParams
	case mcp.CodeHeaderMismatch:
		return causeHeaderMismatch
	case mcp.CodeUnsupportedProtocolVersion:
		return causeRevision
	}
	return string(core.CodeInternalError)
}
