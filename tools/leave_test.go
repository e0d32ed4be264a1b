package tools_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// leaving is the context key for the function that cancels a request's context, as a
// disconnecting client does.
type leaving struct{}

// disconnect simulates that the client of a request disconnects. ctx is the context of that
// request.
func disconnect(ctx context.Context) { ctx.Value(leaving{}).(context.CancelFunc)() }

// beginCall returns a context for one request and the function that ends it. [disconnect]
// can end the context too.
func beginCall(t *testing.T) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	return context.WithValue(ctx, leaving{}, cancel), cancel
}

// lastingTools are tools that could leave a goroutine running after a call. Some disconnect
// their client, and then wait, continue or panic. Others report progress or send requests
// to the client after the answer.
var lastingTools = map[string]sdk.ToolHandler{
	"waits": func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		disconnect(ctx)
		<-ctx.Done()
		return nil, ctx.Err()
	},
	"goes_on_alone": func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		disconnect(ctx)
		return doneResult()
	},
	"reports_to_nobody": func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		disconnect(ctx)
		for step(context.WithoutCancel(ctx), req) == nil {
		}
		return doneResult()
	},
	"reports_beside": func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		go func() {
			for step(context.WithoutCancel(ctx), req) == nil {
			}
		}()
		return doneResult()
	},
	"asks_beside": func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		for range 4 {
			go req.Session.ListRoots(context.WithoutCancel(ctx), nil) //nolint:errcheck,staticcheck // no client can answer
		}
		return doneResult()
	},
	"panics": func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		disconnect(ctx)
		panic("secret of the inside")
	},
	"unwritable_by_panic": func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{StructuredContent: hostile{}}, nil
	},
	"quiet": func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return doneResult() },
}

// TestAThousandCallsLeaveNothingRunning checks that no goroutine remains after a thousand
// calls. It runs in a synctest bubble, which fails if a goroutine waits forever.
func TestAThousandCallsLeaveNothingRunning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var fixtures []addition
		var asks []ask
		for name, handler := range lastingTools {
			fixtures = append(fixtures, fixture(name, handler))
			for _, revision := range allRevisions {
				asks = append(asks, following(revision, name), call(revision, name, nil))
			}
		}
		for _, revision := range allRevisions {
			asks = append(asks, lookup(revision), rpc(revision, "tools/list", nil), rpc(revision, "nonsense", nil))
		}
		asks = append(asks, rpc(legacy, "ping", nil), rpc(modern, "server/discover", nil), ask{body: "{"})
		w := newWorldOf(t, nil, fixtures...)
		var calls sync.WaitGroup
		for worker := range 8 {
			calls.Go(func() {
				for i := range 125 {
					w.pass(time.Second) // advances the clock to stay below the rate limit
					w.callOnce(t, asks[(worker+8*i)%len(asks)])
				}
			})
		}
		calls.Wait()
	})
}

// callOnce sends one request, whose client may disconnect during the call. It fails the
// test on a panic or an empty answer.
func (w *world) callOnce(t *testing.T, a ask) {
	ctx, cancel := beginCall(t)
	defer cancel()
	answer := httptest.NewRecorder()
	v := w.handleRequest(ctx, a, answer)
	if v != nil && v != http.ErrAbortHandler { //nolint:errorlint // the value itself is the signal
		t.Errorf("%s: panic: %v", a.body, v)
	}
	if v == nil && answer.Body.Len() == 0 {
		t.Errorf("%s: answered %d with nothing", a.body, answer.Code)
	}
}

// TestLeavingBeforeTheCallIsNoFault checks a client that disconnects before its tool is
// called. The log line of the request must have the outcome caller_gone and not the level
// of an internal error.
func TestLeavingBeforeTheCallIsNoFault(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	answer := httptest.NewRecorder()
	if v := w.handleRequest(ctx, lookup(modern), answer); v != http.ErrAbortHandler { //nolint:errorlint // the value itself is the signal
		t.Errorf("ended with %v: %d %s", v, answer.Code, answer.Body)
	}
	refused := w.log.lines(t, "request refused")
	if len(refused) != 1 || refused[0]["level"] != "INFO" || refused[0]["outcome"] != "caller_gone" {
		t.Errorf("the log has %v", refused)
	}
}
