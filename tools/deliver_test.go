package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/tools"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// addition is a function that adds a tool to the tested endpoint.
type addition func(*tools.Server)

// fixture returns a function that adds a tool to a server. The tool has no operation; the
// given handler of the SDK answers its calls.
func fixture(name string, handler sdk.ToolHandler) addition {
	return func(server *tools.Server) {
		if err := server.AddTool(&sdk.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, handler); err != nil {
			panic(err)
		}
	}
}

func step(ctx context.Context, req *sdk.CallToolRequest) error {
	return req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: 1})
}

// following returns a call of the tool with a progress token, for which the client gets
// progress notifications.
func following(revision, tool string) ask {
	return rpc(revision, "tools/call", map[string]any{"name": tool, "_meta": map[string]any{"progressToken": "p"}})
}

func doneResult() (*sdk.CallToolResult, error) {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil
}

const soon = 20 * time.Second // a test fails if it has waited for this time

// TestEveryCallIsAnswered checks that a call gets an answer even if its tool returns an
// invalid result, panics, or uses the SDK's connection wrongly.
func TestEveryCallIsAnswered(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, nil,
		fixture("unwritable", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{StructuredContent: json.RawMessage(`{`)}, nil
		}),
		fixture("unwritable_after_progress", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{StructuredContent: json.RawMessage(`{`)}, step(ctx, req)
		}),
		fixture("panics_after_progress", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if err := step(ctx, req); err != nil {
				return nil, err
			}
			panic("secret of the inside")
		}),
		fixture("unwritable_by_panic", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{StructuredContent: hostile{}}, nil
		}),
		fixture("answers_nothing", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return nil, nil }),
		fixture("notifies", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			//nolint:staticcheck // a notification that the endpoint does not know
			if err := errors.Join(step(ctx, req), req.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "error", Data: "x"})); err != nil {
				return nil, err
			}
			return doneResult()
		}),
		fixture("asks_the_client", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			//nolint:staticcheck // a request that the endpoint has no way to send
			if _, err := req.Session.ListRoots(ctx, nil); err == nil {
				return nil, errors.New("a client answered")
			}
			return doneResult()
		}),
	)
	w.http.Timeout = soon
	for _, revision := range allRevisions {
		for tool, want := range map[string]string{
			"unwritable": `"code":-32603`, "unwritable_after_progress": `"code":-32603`, "panics_after_progress": `"isError":true`,
			"unwritable_by_panic": `"code":-32603`,
			"answers_nothing":     `"code":-32603`, "notifies": `"done"`, "asks_the_client": `"done"`,
		} {
			for _, a := range []ask{following(revision, tool), call(revision, tool, nil)} {
				r := w.send(a)
				events := strings.Split(strings.TrimSpace(r.body), "\n\n")
				if last := events[len(events)-1]; r.status != http.StatusOK || !strings.Contains(last, want) || strings.Contains(r.body, "secret") {
					t.Errorf("%s at %s: %d %s", tool, revision, r.status, r.body)
				}
			}
		}
	}
	w.wantQuiet(t)
}

// wantQuiet fails the test if the log contains the text of a panic, which could contain
// secrets.
func (w *world) wantQuiet(t *testing.T) {
	t.Helper()
	if log := w.log.String(); strings.Contains(log, "secret of the inside") {
		t.Errorf("the log repeats a panic's own words: %s", log)
	}
}

// hostile is a value that panics when it is marshalled.
type hostile struct{}

// MarshalJSON panics with a text that must not be logged.
func (hostile) MarshalJSON() ([]byte, error) { panic("secret of the inside") }

// breaking is a response writer that fails from its second write on, like a broken
// connection.
type breaking struct {
	*httptest.ResponseRecorder
	events int
	fail   func() error
}

// Write writes the first event to the recorder. Every later call fails with the error that
// the function fail returns.
func (b *breaking) Write(p []byte) (int, error) {
	if b.events++; b.events > 1 {
		return 0, b.fail()
	}
	return b.ResponseRecorder.Write(p)
}

// handleRequest calls the endpoint's handler in the goroutine of the test. It returns the
// value with which the handler panics, or nil. In a server, the value
// [http.ErrAbortHandler] closes the connection.
func (w *world) handleRequest(ctx context.Context, a ask, answer http.ResponseWriter) any {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, w.url+"/mcp", strings.NewReader(a.body))
	for name, value := range a.header {
		r.Header.Set(name, value)
	}
	r.Header.Set("Authorization", "Bearer live")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", a.revision)
	var panicked any
	func() {
		defer func() { panicked = recover() }()
		w.server.ServeHTTP(answer, r)
	}()
	return panicked
}

// TestStreamWithoutAReaderEnds checks what happens if a client stops reading events. The
// context of the tool must end, so that neither the tool nor the request waits forever.
func TestStreamWithoutAReaderEnds(t *testing.T) {
	t.Parallel()
	for _, revision := range allRevisions {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			ended := make(chan error, 1)
			w := newWorldOf(t, nil, fixture("endless", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				for step(ctx, req) == nil {
				}
				<-ctx.Done()
				ended <- ctx.Err()
				return doneResult()
			}))
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				w.handleRequest(t.Context(), following(revision, "endless"), &breaking{ResponseRecorder: httptest.NewRecorder(), fail: func() error { return http.ErrHandlerTimeout }})
			}()
			late := time.After(soon)
			select {
			case <-ended:
			case <-late:
				t.Fatal("the tool goes on reporting")
			}
			select {
			case <-gone:
			case <-late:
				t.Fatal("the request goes on")
			}
		})
	}
}

// TestAPanicInAStreamHangsUp checks that a panic after the first event closes the
// connection. A problem document cannot follow events, and without a broken connection the
// client would take the stream as complete.
func TestAPanicInAStreamHangsUp(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, nil, fixture("reports", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if err := step(ctx, req); err != nil {
			return nil, err
		}
		return doneResult()
	}))
	answer := &breaking{ResponseRecorder: httptest.NewRecorder(), fail: func() error { panic("secret of the inside") }}
	if v := w.handleRequest(t.Context(), following(modern, "reports"), answer); v != http.ErrAbortHandler { //nolint:errorlint // the value itself is the signal
		t.Errorf("ended with %v", v)
	}
	if body := answer.Body.String(); strings.Count(body, "data:") != 1 || strings.Contains(body, "internal_error") {
		t.Errorf("the stream has %s", body)
	}
	if len(w.log.lines(t, "panic")) != 1 {
		t.Error("the panic is not in the log")
	}
}

type hostileOut struct {
	Note hostile `json:"note"`
}

// TestPanicAfterTheOperation checks a panic outside of the operation, which package
// guardrails does not recover: the result cannot be encoded.
func TestPanicAfterTheOperation(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, []core.Operation{core.Declare(core.Op[nothingIn, hostileOut]{
		Name: "contacts_lookup", Title: "Hostile", Purpose: "Cannot be encoded.", Effect: core.Reads, Scopes: []core.Scope{core.ContactsView},
		Do: func(context.Context, *core.Call, nothingIn) (hostileOut, error) { return hostileOut{}, nil },
	})})
	for _, revision := range allRevisions {
		r := w.send(call(revision, "contacts_lookup", map[string]any{})).result(t)
		if !r.Result.IsError || r.Result.Structured["code"] != "internal_error" {
			t.Errorf("%s: %+v", revision, r)
		}
	}
	w.wantQuiet(t)
}
