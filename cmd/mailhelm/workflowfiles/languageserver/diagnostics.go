package languageserver

import (
	"context"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/workflowfiles/review"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/sourcegraph/jsonrpc2"
)

// publish sends the faults and warnings of a document to the editor.
func (s *server) publish(ctx context.Context, conn *jsonrpc2.Conn, uri string, d document) error {
	return conn.Notify(ctx, "textDocument/publishDiagnostics", publishParams{uri, d.version, diagnose(d.text, s.schema())})
}

// schema returns the names for checks, nil if they are not known.
func (s *server) schema() *language.Schema {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		return nil
	}
	schema := s.known.Schema()
	return &schema
}

// diagnose returns the faults and warnings of a text, never nil. Each has the range of the
// token at its position.
func diagnose(text string, schema *language.Schema) []diagnostic {
	r := review.Source(text, schema)
	list := []diagnostic{}
	for _, f := range r.Faults {
		message := f.Message
		if f.Expected != "" {
			message += "; expected " + f.Expected
		}
		list = append(list, diagnosticAt(text, f.Line, f.Column, severityError, string(f.Limit), message, f.Suggestion))
	}
	for _, w := range r.Warnings {
		list = append(list, diagnosticAt(text, w.Line, w.Column, severityWarning, string(w.Kind), w.Message, w.Suggestion))
	}
	return list
}

func diagnosticAt(text string, line, column int, s severity, code, message, suggestion string) diagnostic {
	if suggestion != "" {
		message += "; did you mean " + suggestion + "?"
	}
	start := offsetOf(text, line, column)
	end := start
	if t := predicate.TokenAt(text, start); t.Start == start {
		end = t.End
	}
	return diagnostic{Range: spanOf(text, start, end), Severity: s, Code: code, Source: "mailhelm", Message: message}
}

// refresh reads the names in the background, unless that is going on. If they are new, it
// publishes the diagnostics of all documents again. The editor shows an error once.
func (s *server) refresh(ctx context.Context, conn *jsonrpc2.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cfg.Names == nil || s.busy {
		return
	}
	s.busy = true
	s.reading.Go(func() {
		read, err := s.cfg.Names(ctx)
		s.mu.Lock()
		s.busy = false
		first := s.known == nil
		show := err != nil && err.Error() != s.failed && ctx.Err() == nil
		s.failed = ""
		if err != nil {
			s.failed = err.Error()
		} else {
			s.known = &read
		}
		documents := map[string]document{}
		if err == nil && first {
			for uri, d := range s.documents {
				documents[uri] = d
			}
		}
		s.mu.Unlock()
		if show {
			_ = conn.Notify(ctx, "window/showMessage", showMessageParams{Type: int(severityWarning), Message: err.Error()})
		}
		for uri, d := range documents {
			_ = s.publish(ctx, conn, uri, d) // a closed connection ends the server
		}
	})
}
