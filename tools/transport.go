package tools

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/mailhelm/mailhelm/core"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// deliver has the SDK answer the exchange's request. The SDK's own HTTP handler would read
// the body again, up to eight times with 32 KB each. Instead the SDK gets the parsed request
// in a session for one request: a call with its params, anything else as a message.
func (s *Server) deliver(w http.ResponseWriter, r *http.Request, x *exchange) error {
	id, err := sdkID(x.message)
	if err != nil {
		return core.Internal(err)
	}
	wire := newConnection()
	if x.followsProgress(r.Header) {
		wire.progress = make(chan *jsonrpc.Request)
	}
	ctx, cancel := context.WithCancel(withExchange(r.Context(), x))
	session, err := s.sdk.Connect(ctx, wire, &mcp.ServerSessionOptions{State: stateOf(x)})
	if err != nil {
		cancel()
		return core.Internal(err)
	}
	var called sync.WaitGroup
	defer called.Wait()   // no call outlives its request
	defer session.Close() //nolint:errcheck // the connection ends in memory; there is nothing to flush
	// The session's end waits for the call and for what it sends, so both end before
	// it: what is sent with a context that does not end, by the connection's end. An
	// answer that no client can receive is not worth finishing: without sessions there is
	// no way to fetch it later, and a write that was cut short may be repeated.
	defer wire.Close() //nolint:errcheck // it cannot fail
	defer cancel()
	if x.call == nil {
		wire.incoming <- &jsonrpc.Request{ID: id, Method: x.message.method, Params: x.message.rawParams}
	} else {
		called.Go(func() { wire.answer <- s.answerCall(ctx, id, &mcp.CallToolRequest{Session: session, Params: x.call}) })
	}
	x.stream.w = w
	answer, err := wire.await(ctx, x.stream.send)
	switch {
	case err != nil:
		x.spanFailed(causeCallerGone)
		panic(http.ErrAbortHandler) // who only stopped sending must not take an empty answer for one
	case x.stream.begun:
		s.endStream(r, x, answer)
		return nil
	default:
		return s.writeAnswer(w, r, x, answer)
	}
}

// answerCall passes a call to the SDK without its reader of messages, which would decode the
// params two or three more times, with 32 KB each.
func (s *Server) answerCall(ctx context.Context, id jsonrpc.ID, call *mcp.CallToolRequest) *jsonrpc.Response {
	answer := &jsonrpc.Response{ID: id}
	result, err := s.methods(ctx, methodCallTool, call)
	if err != nil {
		answer.Error = err
		return answer
	}
	answer.Result, answer.Error = s.encode(ctx, result)
	return answer
}

// stateOf returns the state of a session after its handshake. From 2026-07-28 on there is no
// handshake, and the state is the same.
func stateOf(x *exchange) *mcp.ServerSessionState {
	state := &mcp.ServerSessionState{InitializedParams: new(mcp.InitializedParams)}
	if x.message.method != methodInitialize {
		state.InitializeParams = &mcp.InitializeParams{ProtocolVersion: x.revision}
	}
	return state
}

func sdkID(m message) (jsonrpc.ID, error) {
	var id any
	if err := json.Unmarshal(m.id, &id); err != nil {
		return jsonrpc.ID{}, err
	}
	return jsonrpc.MakeID(id)
}

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

// sdkError returns an error of the SDK for the wire when the SDK meant it for the wire.
// Other errors name Go types and are only logged.
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

// connection carries one request to the SDK and its response back, or what the
// SDK sends beside the answer of a call. It is its own [mcp.Transport].
type connection struct {
	// incoming is what the SDK reads: the request, and refusals of its requests to the
	// client.
	incoming chan jsonrpc.Message
	answer   chan *jsonrpc.Response
	// progress takes notifications of progress; nil when the client does not follow it.
	progress chan *jsonrpc.Request
	closed   chan struct{}
	once     sync.Once
}

func newConnection() *connection {
	return &connection{
		incoming: make(chan jsonrpc.Message, 1),
		answer:   make(chan *jsonrpc.Response, 1),
		closed:   make(chan struct{}),
	}
}

// await passes progress to report until there is an answer. It returns the error of report
// or of the context.
func (c *connection) await(ctx context.Context, report func(jsonrpc.Message) error) (*jsonrpc.Response, error) {
	for {
		select {
		case step := <-c.progress:
			if err := report(step); err != nil {
				return nil, err
			}
		case answer := <-c.answer:
			return answer, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Connect returns the connection itself.
func (c *connection) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// Read returns the request first, and then waits until the connection is closed
// or the SDK has asked the client for something.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.incoming:
		return m, nil
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// errNoStream answers a request to the client. No tool makes one.
var errNoStream = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "there is no stream to the client"}

// Write takes the response, and progress of the request where the client follows it. Nothing
// else can reach the client: notifications are dropped, and a request is answered with an
// error. An error from Write would break the connection, and with it the pending answer.
func (c *connection) Write(ctx context.Context, m jsonrpc.Message) error {
	switch m := m.(type) {
	case *jsonrpc.Response:
		select {
		case c.answer <- m:
		default: // answered before
		}
	case *jsonrpc.Request:
		switch {
		case m.IsCall():
			return c.refuse(ctx, m)
		case c.progress != nil && m.Method == notificationProgress:
			return c.report(ctx, m)
		}
	}
	return nil
}

func (c *connection) refuse(ctx context.Context, asked *jsonrpc.Request) error {
	select {
	case c.incoming <- &jsonrpc.Response{ID: asked.ID, Error: errNoStream}:
		return nil
	case <-c.closed:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return ctx.Err()
	}
}

// report returns when the step is being sent, so that the answer comes after it.
func (c *connection) report(ctx context.Context, step *jsonrpc.Request) error {
	select {
	case c.progress <- step:
		return nil
	case <-c.closed:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends the connection. It may be called more than once.
func (c *connection) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// SessionID is empty: there are no sessions.
func (c *connection) SessionID() string { return "" }
