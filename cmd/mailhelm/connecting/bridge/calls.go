package bridge

import (
	"context"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// calls has the requests that wait for an answer, so that the client can cancel them.
type calls struct {
	free    chan struct{} // holds an element for each running request
	mu      sync.Mutex
	cancels map[string]context.CancelFunc // by id, as written in the message
	running sync.WaitGroup
}

// start runs call in a goroutine of its own, after one of the places is free. The context of
// call ends when the client cancels the request with this id.
func (c *calls) start(ctx context.Context, id jsontext.Value, call func(context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	c.mu.Lock()
	if c.cancels == nil {
		c.cancels = map[string]context.CancelFunc{}
	}
	c.cancels[string(id)] = cancel
	c.mu.Unlock()
	c.running.Go(func() {
		defer func() {
			c.mu.Lock()
			delete(c.cancels, string(id))
			c.mu.Unlock()
			cancel()
		}()
		select {
		case c.free <- struct{}{}:
			defer func() { <-c.free }()
			call(ctx)
		case <-ctx.Done():
		}
	})
}

// cancel ends the request with this id. It does nothing if there is none.
func (c *calls) cancel(id jsontext.Value) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.cancels[string(id)]; cancel != nil {
		cancel()
	}
}

// wait waits for the end of all requests.
func (c *calls) wait() { c.running.Wait() }
