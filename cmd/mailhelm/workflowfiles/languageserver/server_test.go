package languageserver

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/workflowfiles/names"
	"github.com/sourcegraph/jsonrpc2"
)

const uri = "file:///welcome.workflow"

// patience is how long a test waits for the server.
const patience = 20 * time.Second

// editor is the client of a session. It keeps the notifications of the server.
type editor struct {
	t         *testing.T
	conn      *jsonrpc2.Conn
	published chan publishParams
	messages  chan string
	// served receives the result of Serve.
	served chan error
}

// newEditor starts a server and connects to it.
func newEditor(t *testing.T, cfg Config) *editor {
	t.Helper()
	here, there := net.Pipe()
	e := &editor{t: t, published: make(chan publishParams, 20), messages: make(chan string, 20), served: make(chan error, 1)}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	go func() { e.served <- Serve(ctx, there, cfg) }()
	e.conn = jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(here, jsonrpc2.VSCodeObjectCodec{}), jsonrpc2.HandlerWithError(e.handle), jsonrpc2.SetLogger(silent{}))
	t.Cleanup(func() { _ = e.conn.Close() })
	return e
}

func (e *editor) handle(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
	switch r.Method {
	case "textDocument/publishDiagnostics":
		var p publishParams
		err := json.Unmarshal(*r.Params, &p)
		e.published <- p
		return nil, err
	case "window/showMessage":
		var p showMessageParams
		err := json.Unmarshal(*r.Params, &p)
		e.messages <- p.Message
		return nil, err
	}
	return nil, nil
}

func (e *editor) call(method string, params, result any) {
	e.t.Helper()
	if err := e.conn.Call(e.t.Context(), method, params, result); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
}

func (e *editor) notify(method string, params any) {
	e.t.Helper()
	if err := e.conn.Notify(e.t.Context(), method, params); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
}

// open opens the document and returns its diagnostics.
func (e *editor) open(text string) publishParams {
	e.t.Helper()
	e.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri, "version": 1, "text": text}})
	return e.diagnostics()
}

func (e *editor) diagnostics() publishParams {
	e.t.Helper()
	select {
	case p := <-e.published:
		return p
	case <-time.After(patience):
		e.t.Fatal("the server published nothing")
		return publishParams{}
	}
}

func at(line, character int) map[string]any {
	return map[string]any{"textDocument": identifier{uri}, "position": position{line, character}}
}

func TestSession(t *testing.T) {
	t.Parallel()
	e := newEditor(t, Config{Version: "1.2.3"})
	var hello struct {
		Capabilities struct {
			PositionEncoding string
			TextDocumentSync struct{ Change int }
		}
		ServerInfo struct{ Name, Version string }
	}
	e.call("initialize", map[string]any{}, &hello)
	if hello.Capabilities.PositionEncoding != "utf-16" || hello.Capabilities.TextDocumentSync.Change != 1 || hello.ServerInfo.Version != "1.2.3" {
		t.Errorf("the capabilities are %+v", hello)
	}
	e.notify("initialized", map[string]any{})
	// "😀" has two UTF-16 code units and is one column of the language.
	got := e.open("workflow \"😀\" v2 {\n  enter on activity.signup\n  exit \"😀é\" wenn suppressed\n  wiat 3 days\n}\n")
	want := []diagnostic{
		{span{position{0, 14}, position{0, 16}}, severityError, "", "mailhelm", `version "v2" of the language does not exist; did you mean v1?`},
		{span{position{2, 13}, position{2, 17}}, severityError, "", "mailhelm", `unexpected "wenn"; expected "when"`},
		{span{position{3, 2}, position{3, 6}}, severityError, "", "mailhelm", got.Diagnostics[2].Message},
	}
	if got.URI != uri || got.Version != 1 || !slices.Equal(got.Diagnostics, want) {
		t.Errorf("got %+v\nwant %+v", got.Diagnostics, want)
	}
	const text = "workflow \"😀\" v1 {\n  enter on activity.signup\n  send   \"welcome\"\n  exit\n  wait 3 days\n}\n"
	e.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": uri, "version": 2}, "contentChanges": []map[string]string{{"text": text}}})
	if got := e.diagnostics(); got.Version != 2 || len(got.Diagnostics) != 1 || got.Diagnostics[0].Severity != severityWarning || got.Diagnostics[0].Code != "unreachable" || got.Diagnostics[0].Range.Start != (position{4, 2}) {
		t.Errorf("after the change: %+v", got)
	}
	var h hover
	e.call("textDocument/hover", at(4, 3), &h)
	if !strings.Contains(h.Contents.Value, "wait DURATION") || !strings.Contains(h.Contents.Value, "Path of this step: `2`") || h.Range != (span{position{4, 2}, position{4, 6}}) {
		t.Errorf("the hover is %+v", h)
	}
	var items []item
	e.call("textDocument/completion", at(4, 4), &items)
	if !slices.ContainsFunc(items, func(i item) bool { return i.Label == "wait up to" && i.TextEdit.Range.Start == position{4, 2} }) {
		t.Errorf("the completions are %+v", items)
	}
	var edits []textEdit
	e.call("textDocument/formatting", documentParams{identifier{uri}}, &edits)
	if len(edits) != 1 || edits[0].Range != (span{position{0, 0}, position{6, 0}}) || !strings.Contains(edits[0].NewText, "\n  send \"welcome\"\n") {
		t.Errorf("the edits are %+v", edits)
	}
	e.notify("textDocument/didClose", documentParams{identifier{uri}})
	if got := e.diagnostics(); len(got.Diagnostics) != 0 {
		t.Errorf("after closing: %+v", got)
	}
	e.call("shutdown", nil, nil)
	if err := e.conn.Call(t.Context(), "textDocument/hover", at(0, 0), nil); err == nil {
		t.Error("a call after the shutdown is answered")
	}
	e.notify("exit", nil)
	if err := <-e.served; err != nil {
		t.Errorf("the server ends with %v", err)
	}
}

func TestProtocolErrors(t *testing.T) {
	t.Parallel()
	e := newEditor(t, Config{})
	for method, code := range map[string]int64{"textDocument/rename": jsonrpc2.CodeMethodNotFound, "textDocument/hover": jsonrpc2.CodeInvalidParams} {
		err := e.conn.Call(t.Context(), method, "x", nil)
		if refusal, is := errors.AsType[*jsonrpc2.Error](err); !is || refusal.Code != code {
			t.Errorf("%s is answered with %v", method, err)
		}
	}
	e.notify("$/unknown", nil)
	var edits []textEdit
	e.call("textDocument/formatting", documentParams{identifier{"file:///other"}}, &edits)
	if len(edits) != 0 {
		t.Errorf("a file that is not open gets %+v", edits)
	}
	e.notify("exit", nil)
	if err := <-e.served; !errors.Is(err, ErrNoShutdown) {
		t.Errorf("without a shutdown, the server ends with %v", err)
	}
}

// TestNamesInTheBackground checks that a document is diagnosed without names at first, again
// when they are known, and that an error is shown once.
func TestNamesInTheBackground(t *testing.T) {
	t.Parallel()
	results := make(chan error)
	e := newEditor(t, Config{Names: func(ctx context.Context) (names.Names, error) {
		select {
		case err := <-results:
			return known, err
		case <-ctx.Done():
			return names.Names{}, ctx.Err()
		}
	}})
	e.call("initialize", map[string]any{}, nil)
	const text = "workflow \"W\" v1 {\n  enter on activity.signup\n  send \"wellcome\"\n}\n"
	if got := e.open(text); len(got.Diagnostics) != 0 {
		t.Errorf("without names: %+v", got)
	}
	results <- errors.New("the server is away")
	if got := <-e.messages; got != "the server is away" {
		t.Errorf("the message is %q", got)
	}
	if got := e.open(text); len(got.Diagnostics) != 0 {
		t.Errorf("after an error: %+v", got)
	}
	results <- nil
	if got := e.diagnostics(); len(got.Diagnostics) != 1 || !strings.Contains(got.Diagnostics[0].Message, `there is no template "wellcome"; did you mean welcome?`) {
		t.Errorf("with names: %+v", got)
	}
	var items []item
	e.call("textDocument/completion", at(2, 9), &items)
	if !slices.ContainsFunc(items, func(i item) bool {
		return i.Label == `"welcome"` && i.TextEdit.Range == span{position{2, 7}, position{2, 17}}
	}) {
		t.Errorf("the completions are %+v", items)
	}
}
