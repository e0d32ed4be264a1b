// Package connection passes one request to the SDK of the protocol in memory and returns its
// response.
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

// Connection passes one request to the SDK and returns its response. It also passes on
// progress notifications of the call. It implements [mcp.Transport] itself.
type Connection struct {
	// incoming has the messages that the SDK reads: the request, and the refusals of
	// requests that the SDK sends to the client.
	incoming chan jsonrpc.Message
	answer   chan *jsonrpc.Response
	// progress receives progress notifications; nil when the client does not want them.
	progress chan *jsonrpc.Request
	closed   chan struct{}
	once     sync.Once
}

// New returns a connection for one request. progress is true when the client wants progress
// notifications of its call.
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

// Ask sends the request to the SDK. Call it once.
func (c *Connection) Ask(request *jsonrpc.Request) { c.incoming <- request }

// Answer delivers a response to Await for a request that was not sent with Ask.
func (c *Connection) Answer(response *jsonrpc.Response) { c.answer <- response }

// Await calls report for each progress notification until the response arrives, and returns
// the response. It fails with the error of report or of the context.
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

// Connect returns the connection itself.
func (c *Connection) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// Read implements mcp.Connection. It returns the request first. Then it waits until the
// connection is closed, or until there is a refusal for a request of the SDK.
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

// errNoStream is the answer to requests to the client. No tool sends one.
var errNoStream = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "there is no stream to the client"}

// Write implements mcp.Connection. It passes on the response, and progress notifications if
// the client wants them. It drops other notifications and answers requests with an error,
// because there is no stream to the client. Write must not fail for a message that it drops:
// an error would break the connection and lose the pending response.
func (c *Connection) Write(ctx context.Context, m jsonrpc.Message) error {
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
		case c.progress != nil && m.Method == progressMethod:
			return c.report(ctx, m)
		}
	}
	return nil
}

// refuse answers a request of the SDK to the client with errNoStream. It waits until the SDK
// reads the answer.
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

// report passes on a progress notification and returns when Await has taken it, so that the
// response comes after it.
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

// SessionID is empty: there are no sessions.
func (c *Connection) SessionID() string { return "" }
