package languageserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/workflowfiles/names"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/sourcegraph/jsonrpc2"
)

// Config says what a server knows.
type Config struct {
	// Names returns the names of the organization; nil if names are not checked. It is called
	// often, so it should keep what it read.
	Names func(context.Context) (names.Names, error)
	// Version is the version of the program, for editors that show it.
	Version string
}

// ErrNoShutdown is the error of an editor that ends without the request to shut down.
var ErrNoShutdown = errors.New("the editor ended without a shutdown")

// Serve serves one editor until it ends the connection, or until ctx ends. It closes the
// stream. It returns nil if the editor asked to shut down before, or if ctx ended.
func Serve(ctx context.Context, stream io.ReadWriteCloser, cfg Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{cfg: cfg, documents: map[string]document{}}
	conn := jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(stream, jsonrpc2.VSCodeObjectCodec{}),
		jsonrpc2.HandlerWithError(s.handle), jsonrpc2.SetLogger(silent{}))
	select {
	case <-ctx.Done():
		_ = conn.Close() // the process ends
		return nil
	case <-conn.DisconnectNotify():
	}
	cancel()
	s.reading.Wait()
	if !s.ended() {
		return ErrNoShutdown
	}
	return nil
}

// silent discards what package jsonrpc2 logs: it would be in the output of the editor.
type silent struct{}

// Printf does nothing.
func (silent) Printf(string, ...any) {}

// server serves one editor. Calls come one after another; names are read in the background.
type server struct {
	cfg Config
	// reading counts the goroutines that read names.
	reading sync.WaitGroup

	mu        sync.Mutex
	documents map[string]document
	// known has the names as last read, nil before. failed is the last error, which is shown
	// once.
	known    *names.Names
	failed   string
	busy     bool
	shutdown bool
}

// document is an open file.
type document struct {
	text    string
	version int
}

// methods has the methods of the protocol that the server serves.
var methods = map[string]func(*server, context.Context, *jsonrpc2.Conn, json.RawMessage) (any, error){
	"initialize":              (*server).initialize,
	"shutdown":                (*server).shutDown,
	"textDocument/didOpen":    (*server).open,
	"textDocument/didChange":  (*server).change,
	"textDocument/didClose":   (*server).close,
	"textDocument/hover":      (*server).hover,
	"textDocument/completion": (*server).completion,
	"textDocument/formatting": (*server).format,
}

// handle answers a call. It ignores notifications that it does not know, as the protocol
// requires.
func (s *server) handle(ctx context.Context, conn *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
	if r.Method == "exit" {
		return nil, conn.Close()
	}
	method, known := methods[r.Method]
	switch {
	case !known && r.Notif:
		return nil, nil
	case !known:
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "the server has no method " + r.Method}
	case s.ended():
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "the server is shut down"}
	}
	params := json.RawMessage("null")
	if r.Params != nil {
		params = *r.Params
	}
	return method(s, ctx, conn, params)
}

func (s *server) ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shutdown
}

func (s *server) initialize(ctx context.Context, conn *jsonrpc2.Conn, _ json.RawMessage) (any, error) {
	s.refresh(ctx, conn)
	return capabilities(s.cfg.Version), nil
}

func (s *server) shutDown(context.Context, *jsonrpc2.Conn, json.RawMessage) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shutdown = true
	return nil, nil
}

// decode reads the parameters of a call.
func decode(params json.RawMessage, v any) error {
	if err := json.Unmarshal(params, v); err != nil {
		return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: err.Error()}
	}
	return nil
}

func (s *server) open(ctx context.Context, conn *jsonrpc2.Conn, params json.RawMessage) (any, error) {
	var p openParams
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	return nil, s.store(ctx, conn, p.Document.URI, document{p.Document.Text, p.Document.Version})
}

func (s *server) change(ctx context.Context, conn *jsonrpc2.Conn, params json.RawMessage) (any, error) {
	var p changeParams
	if err := decode(params, &p); err != nil || len(p.Changes) == 0 {
		return nil, err
	}
	return nil, s.store(ctx, conn, p.Document.URI, document{p.Changes[len(p.Changes)-1].Text, p.Document.Version})
}

// store keeps the text of a document and publishes what is wrong in it.
func (s *server) store(ctx context.Context, conn *jsonrpc2.Conn, uri string, d document) error {
	s.mu.Lock()
	s.documents[uri] = d
	s.mu.Unlock()
	s.refresh(ctx, conn)
	return s.publish(ctx, conn, uri, d)
}

// close forgets a document and removes its diagnostics from the editor.
func (s *server) close(ctx context.Context, conn *jsonrpc2.Conn, params json.RawMessage) (any, error) {
	var p documentParams
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	s.mu.Lock()
	delete(s.documents, p.Document.URI)
	s.mu.Unlock()
	return nil, conn.Notify(ctx, "textDocument/publishDiagnostics", publishParams{URI: p.Document.URI, Diagnostics: []diagnostic{}})
}

// format answers with the edit that formats a document. A document with faults, or in its
// canonical form, gets none.
func (s *server) format(_ context.Context, _ *jsonrpc2.Conn, params json.RawMessage) (any, error) {
	var p documentParams
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	d := s.document(p.Document.URI)
	text, err := language.Format(d.text)
	if err != nil || text == d.text {
		return []textEdit{}, nil // the faults are published already
	}
	return []textEdit{{spanOf(d.text, 0, len(d.text)), text}}, nil
}

// document returns an open document, or an empty one.
func (s *server) document(uri string) document {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.documents[uri]
}

// current returns the names as last read, empty before.
func (s *server) current() names.Names {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		return names.Names{}
	}
	return *s.known
}
