package tools

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/mailhelm/mailhelm/core"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// deliver has the SDK answer the exchange's request. The SDK's own HTTP handler
// would read the body again, up to eight times with 32 KB each; here it is handed
// the message that was read, over a connection that lasts for one request.
func (s *Server) deliver(w http.ResponseWriter, r *http.Request, x *exchange) error {
	id, err := sdkID(x.message)
	if err != nil {
		return core.Internal(err)
	}
	wire := newConnection(&jsonrpc.Request{ID: id, Method: x.message.method, Params: x.message.rawParams})
	session, err := s.sdk.Connect(withExchange(r.Context(), x), wire, &mcp.ServerSessionOptions{State: stateOf(x)})
	if err != nil {
		return core.Internal(err)
	}
	defer session.Close() //nolint:errcheck // the connection ends in memory; there is nothing to flush
	select {
	case answer := <-wire.answer:
		return s.writeAnswer(w, r, x, answer)
	case <-r.Context().Done():
		return nil // nobody reads an answer
	}
}

// stateOf is the session that the handshake of an earlier request would have
// left behind. From 2026-07-28 on a request brings its own.
func stateOf(x *exchange) *mcp.ServerSessionState {
	state := new(mcp.ServerSessionState)
	if x.revision == revision20260728 {
		return state
	}
	state.InitializedParams = new(mcp.InitializedParams)
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
	write(w, "application/json", http.StatusOK, body)
	return nil
}

// sdkError is an error that the SDK answers with. It is passed on when the SDK
// meant it for the wire; what merely failed there names Go types.
func (s *Server) sdkError(r *http.Request, x *exchange, cause error) error {
	wire, ok := cause.(*jsonrpc.Error) //nolint:errorlint // one that is wrapped has the wrapper's text
	if !ok {
		s.cfg.Log.LogAttrs(r.Context(), slog.LevelError, "the protocol layer failed",
			slog.String("request_id", x.requestID), slog.String("cause", cause.Error()))
		wire = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "Something failed on our side. Request id: " + x.requestID}
	}
	e := &rpcError{id: x.message.id, status: http.StatusOK, code: wire.Code, message: wire.Message}
	if wire.Data != nil {
		e.data = wire.Data
	}
	if x.revision == revision20260728 && wire.Code == jsonrpc.CodeInvalidParams {
		e.status = http.StatusBadRequest
	}
	return e
}

// connection carries one request to the SDK and its response back. It is its own
// [mcp.Transport].
type connection struct {
	request chan jsonrpc.Message
	answer  chan *jsonrpc.Response
	closed  chan struct{}
	once    sync.Once
}

func newConnection(request *jsonrpc.Request) *connection {
	c := &connection{
		request: make(chan jsonrpc.Message, 1),
		answer:  make(chan *jsonrpc.Response, 1),
		closed:  make(chan struct{}),
	}
	c.request <- request
	return c
}

// Connect returns the connection itself.
func (c *connection) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// Read returns the request once, and then waits until the connection is closed.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case request := <-c.request:
		return request, nil
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

var errNoStream = errors.New("there is no stream to the client")

// Write takes the response. There is no way to the client for anything else.
func (c *connection) Write(_ context.Context, m jsonrpc.Message) error {
	answer, ok := m.(*jsonrpc.Response)
	if !ok {
		return errNoStream
	}
	select {
	case c.answer <- answer:
		return nil
	default:
		return errNoStream
	}
}

// Close ends the connection. It may be called more than once.
func (c *connection) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// SessionID is empty: there are no sessions.
func (c *connection) SessionID() string { return "" }
