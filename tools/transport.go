package tools

import (
	"context"
	"log/slog"
	"net/http"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/tools/connection"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// deliver lets the SDK answer the exchange's request. The SDK's own HTTP handler would read
// the body again, up to eight times with 32 KB each. Instead, the SDK gets the parsed
// request in a session for one request. A call is passed with its params, anything else as a
// message.
func (s *Server) deliver(w http.ResponseWriter, r *http.Request, x *exchange) error {
	id, err := sdkID(x.message)
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
	defer called.Wait()   // no call outlives its request
	defer session.Close() //nolint:errcheck // the connection ends in memory; there is nothing to flush
	// Closing the session waits for the call and its notifications. Closing the connection
	// ends a notification whose context does not end. A client that disconnected cannot
	// fetch the answer later, because there are no sessions. It may repeat an interrupted
	// write with its key.
	defer wire.Close() //nolint:errcheck // it cannot fail
	defer cancel()
	if x.call == nil {
		wire.Ask(&jsonrpc.Request{ID: id, Method: x.message.method, Params: x.message.rawParams})
	} else {
		called.Go(func() {
			wire.Answer(s.protocol.answerCall(ctx, id, &mcp.CallToolRequest{Session: session, Params: x.call}))
		})
	}
	x.stream.w = w
	answer, err := wire.Await(ctx, x.stream.send)
	switch {
	case err != nil:
		x.failSpan(causeCallerGone)
		panic(http.ErrAbortHandler) // who only stopped sending must not take an empty answer for one
	case x.stream.begun:
		s.endStream(r, x, answer)
		return nil
	default:
		return s.writeAnswer(w, r, x, answer)
	}
}

// answerCall passes a call to the SDK's handlers directly. The SDK's reader of messages
// would decode the params two or three more times, with 32 KB each.
func (p *protocol) answerCall(ctx context.Context, id jsonrpc.ID, call *mcp.CallToolRequest) *jsonrpc.Response {
	answer := &jsonrpc.Response{ID: id}
	result, err := p.methods(ctx, methodCallTool, call)
	if err != nil {
		answer.Error = err
		return answer
	}
	answer.Result, answer.Error = p.encode(ctx, result)
	return answer
}

// stateOf returns the state of a session after its handshake. Revision 2026-07-28 has no
// handshake but the same state.
func stateOf(x *exchange) *mcp.ServerSessionState {
	state := &mcp.ServerSessionState{InitializedParams: new(mcp.InitializedParams)}
	if x.message.method != methodInitialize {
		state.InitializeParams = &mcp.InitializeParams{ProtocolVersion: x.revision}
	}
	return state
}

// sdkID returns the message's id in the SDK's type. It fails for an id that is neither a
// string nor an integer.
func sdkID(m message) (jsonrpc.ID, error) {
	var id any
	if err := json.Unmarshal(m.id, &id); err != nil {
		return jsonrpc.ID{}, err
	}
	return jsonrpc.MakeID(id)
}

// writeAnswer writes the SDK's response, as JSON or as the last event of a stream.
func (s *Server) writeAnswer(w http.ResponseWriter, r *http.Request, x *exchange, answer *jsonrpc.Response) error {
	if answer.Error != nil {
		return s.sdkError(r, x, answer.Error)
	}
	body, err := jsonrpc.EncodeMessage(answer)
	if err != nil {
		return core.Internal(err)
	}
	s.noteAnswer(x, len(body))
	write(w, "application/json", http.StatusOK, body)
	return nil
}

// sdkError returns the error for the client if the SDK meant it for the client. Other errors
// name Go types; they are only logged.
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
	e := &rpcError{id: x.message.id, status: http.StatusOK, code: wire.Code, message: wire.Message}
	if wire.Data != nil {
		e.data = wire.Data
	}
	if x.revision == revision20260728 && (wire.Code == jsonrpc.CodeInvalidParams || wire.Code == mcp.CodeMissingRequiredClientCapabilities) {
		e.status = http.StatusBadRequest
	}
	return e
}
