// Package connection passes one request to the MCP SDK in memory and returns its response.
package connection

import (
	"context"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// progressMethod is the method of progress notifications (MCP).
const progressMethod = "notifications/progress"

// Connection passes one request to the SDK and returns its response, and the progress
// notifications of the call. It implements [mcp.Transport] and [mcp.Connection].
type Connection struct {
	// incoming has the messages for the SDK: the request, and errors in answer to the SDK's
	// own requests to the client.
	incoming chan jsonrpc.Message
	answer   chan *jsonrpc.Response
	// progress passes the server's progress notifications to Await; nil if the client does
	// not want them.
	progress chan *jsonrpc.Request
	closed   chan struct{}
	once     sync.Once
}

// New returns a connection for one request. progress enables progress notifications.
func New(progress bool) *Connection {
	c := &Connection{
		incoming: make(chan jsonrpc.Message, 1),
		answer:   make(chan *jsonrpc.Response, 1),
		closed:   make(chan struct{}),
	}
	if progress {
		c.progress = make(chan *jsonrpc.Request)
	}
	return c
}

// Ask sends the request to the SDK. It must be called only once.
func (c *Connection) Ask(request *jsonrpc.Request) { c.incoming <- request }

// Answer passes a response to Await, for a request that was not sent with Ask.
func (c *Connection) Answer(response *jsonrpc.Response) { c.answer <- response }

// Await calls report for each progress notification and returns the response when it
// arrives. It fails if report fails or the context ends.
func (c *Connection) Await(ctx context.Context, report func(jsonrpc.Message) error) (*jsonrpc.Response, error) {
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

// Connect implements mcp.Transport. It returns the connection itself.
func (c *Connection) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// Read implements mcp.Connection for the SDK. If Ask has sent a request, the first call
// returns it. A later call waits until the connection is closed, and returns io.EOF. But if
// the SDK has sent a request to the client, the later call returns the error response to
// it, because the connection refuses every such request.
func (c *Connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.incoming:
		return m, nil
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// errNoStream is the error with which every request of the SDK to the client is answered.
// No tool of Mailhelm sends such requests.
var errNoStream = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "there is no stream to the client"}

// Write implements mcp.Connection for the SDK. It passes the response to Await, and
// progress notifications if the client wants them. It drops other notifications. It answers
// requests to the client with an error. Write must not fail for a dropped message: the SDK
// would close the connection and lose the pending response.
func (c *Connection) Write(ctx context.Context, m jsonrpc.Message) error {
	switch m := m.(type) {
	case *jsonrpc.Response:
		select {
		case c.answer <- m:
		default: // a response was sent before
		}
	case *jsonrpc.Request:
		switch {
		case m.IsCall():
			return c.refuse(ctx, m)
		case c.progress != nil && m.Method == progressMethod:
			return c.report(ctx, m)
		}
	}
	return nil
}

// refuse handles a request that the SDK wants to send to the client: it answers the SDK
// with errNoStream. It blocks until the answer can be queued for the SDK.
func (c *Connection) refuse(ctx context.Context, asked *jsonrpc.Request) error {
	select {
	case c.incoming <- &jsonrpc.Response{ID: asked.ID, Error: errNoStream}:
		return nil
	case <-c.closed:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return ctx.Err()
	}
}

// report passes a progress notification to Await and returns when Await has received it. If
// a tool answers after its last report, Await therefore receives every notification before
// the response.
func (c *Connection) report(ctx context.Context, step *jsonrpc.Request) error {
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
func (c *Connection) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// SessionID returns "", because the endpoint has no sessions.
func (c *Connection) SessionID() string { return "" }
