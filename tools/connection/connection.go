// Package connection carries one request to the SDK of the protocol and its response back,
// in memory.
package connection

import (
	"context"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const progressMethod = "notifications/progress"

// Connection carries one request to the SDK and its response back, or what the
// SDK sends beside the answer of a call. It is its own [mcp.Transport].
type Connection struct {
	// incoming is what the SDK reads: the request, and refusals of its requests to the
	// client.
	incoming chan jsonrpc.Message
	answer   chan *jsonrpc.Response
	// progress takes notifications of progress; nil when the client does not follow it.
	progress chan *jsonrpc.Request
	closed   chan struct{}
	once     sync.Once
}

// New returns a connection. progress says whether the client follows the progress of its
// call.
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

// Ask passes the one request to the SDK.
func (c *Connection) Ask(request *jsonrpc.Request) { c.incoming <- request }

// Answer takes the response to a request that did not go through Ask.
func (c *Connection) Answer(response *jsonrpc.Response) { c.answer <- response }

// Await passes progress to report until there is an answer. It returns the error of report
// or of the context.
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

// Read returns the request first, and then waits until the connection is closed
// or the SDK has asked the client for something.
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

// errNoStream answers a request to the client. No tool makes one.
var errNoStream = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "there is no stream to the client"}

// Write takes the response, and progress of the request where the client follows it. Nothing
// else can reach the client: notifications are dropped, and a request is answered with an
// error. An error from Write would break the connection, and with it the pending answer.
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

// report returns when the step is being sent, so that the answer comes after it.
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
