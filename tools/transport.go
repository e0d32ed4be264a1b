package tools

import (
	"context"
	"log/slog"
	"net/http"
	"sync"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/tools/connection"
	"github.com/mailhelm/mailhelm/tools/rpc"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// passToSDK passes the parsed request to the SDK and writes the SDK's answer. The SDK's own
// HTTP handler is not used, because it would decode the body up to eight times, each time
// with a buffer of 32 KB. Instead, passToSDK opens a session in memory for this one request.
// A tool call is passed with its params, any other request as a message.
func (s *Server) passToSDK(w http.ResponseWriter, r *http.Request, x *exchange) error {
	id, err := x.message.SDKID()
	if err != nil {
		return core.Internal(err)
	}
	wire := connection.New(x.followsProgress(r.Header))
	ctx, cancel := context.WithCancel(withExchange(r.Context(), x))
	session, err := s.protocol.sdk.Connect(ctx, wire, &mcp.ServerSessionOptions{State: stateOf(x)})
	if err != nil {
		cancel()
		return core.Internal(err)
	}
	var called sync.WaitGroup
	defer called.Wait()   // waits until the tool call has ended
	defer session.Close() //nolint:errcheck // the connection ends in memory; there is nothing to flush
	// Closing the session waits for the call and its notifications, so the connection is
	// closed first: a pending notification would otherwise never end. A call also ends when
	// its client disconnects, because without sessions a client cannot fetch the answer
	// later. The client may repeat an interrupted write with its idempotency key.
	defer wire.Close() //nolint:errcheck // it cannot fail
	defer cancel()
	if x.call == nil {
		wire.Ask(&jsonrpc.Request{ID: id, Method: x.message.Method, Params: x.message.RawParams})
	} else {
		called.Go(func() {
			wire.Answer(s.protocol.callTool(ctx, id, &mcp.CallToolRequest{Session: session, Params: x.call}))
		})
	}
	x.stream.w = w
	answer, err := wire.Await(ctx, x.stream.send)
	switch {
	case err != nil:
		x.failSpan(causeCallerGone)
		panic(http.ErrAbortHandler) // closes the connection: a client must not take an empty answer as complete
	case x.stream.begun:
		s.endStream(r, x, answer)
		return nil
	default:
		return s.writeAnswer(w, r, x, answer)
	}
}

// callTool passes a tool call directly to the SDK's method handlers and returns the
// response. The SDK's message reader is not used, because it would decode the parameters
// two or three more times.
func (p *protocol) callTool(ctx context.Context, id jsonrpc.ID, call *mcp.CallToolRequest) *jsonrpc.Response {
	answer := &jsonrpc.Response{ID: id}
	result, err := p.methods(ctx, rpc.MethodCallTool, call)
	if err != nil {
		answer.Error = err
		return answer
	}
	answer.Result, answer.Error = p.encode(ctx, result)
	return answer
}

// stateOf returns the SDK's state of a session after its handshake. Protocol revision
// 2026-07-28 has no handshake, but the SDK needs the same state.
func stateOf(x *exchange) *mcp.ServerSessionState {
	state := &mcp.ServerSessionState{InitializedParams: new(mcp.InitializedParams)}
	if x.message.Method != rpc.MethodInitialize {
		state.InitializeParams = &mcp.InitializeParams{ProtocolVersion: x.message.Revision}
	}
	return state
}

// writeAnswer writes the SDK's response as JSON. For an error response it returns the error
// instead and writes nothing.
func (s *Server) writeAnswer(w http.ResponseWriter, r *http.Request, x *exchange, answer *jsonrpc.Response) error {
	if answer.Error != nil {
		return s.sdkError(r, x, answer.Error)
	}
	body, err := jsonrpc.EncodeMessage(answer)
	if err != nil {
		return core.Internal(err)
	}
	s.noteAnswer(x, len(body))
	x.showReplica(w)
	write(w, "application/json", http.StatusOK, body)
	return nil
}

// sdkError returns the error for the client. Only a JSON-RPC error of the SDK is passed on.
// Any other error could name Go types, so it is logged and the client gets an internal
// error.
func (s *Server) sdkError(r *http.Request, x *exchange, cause error) error {
	if x.outage != nil {
		return x.outage
	}
	wire, ok := cause.(*jsonrpc.Error) //nolint:errorlint // one that is wrapped has the wrapper's text
	if !ok {
		s.cfg.Log.LogAttrs(r.Context(), slog.LevelError, "the protocol layer failed",
			slog.String("request_id", x.requestID), slog.String("cause", cause.Error()))
		wire = x.internalError()
	}
	e := &rpc.Error{ID: x.message.ID, Status: http.StatusOK, Code: wire.Code, Message: wire.Message}
	if wire.Data != nil {
		e.Data = wire.Data
	}
	if x.message.IsModern() && (wire.Code == jsonrpc.CodeInvalidParams || wire.Code == mcp.CodeMissingRequiredClientCapabilities) {
		e.Status = http.StatusBadRequest
	}
	return e
}
