package tools

import (
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Fixture is a tool besides the table, for suites that test the protocol with
// tools of their own. The product has none.
type Fixture struct {
	// Entry is mounted like one of the table when Handler is nil: with the
	// catalogue's operation, behind all rails.
	Entry Entry
	// Tool and Handler are for what no operation answers: pictures, rounds of
	// questions, progress. The handler passes everything before the rails. It
	// answers a fresh result each time, for the endpoint signs it.
	Tool    *mcp.Tool
	Handler mcp.ToolHandler
}

func (s *Server) mountFixtures(fixtures []Fixture) error {
	for _, f := range fixtures {
		if f.Handler == nil {
			if err := s.mountEntry(f.Entry); err != nil {
				return err
			}
			continue
		}
		s.tools[f.Tool.Name] = &tool{described: f.Tool}
		s.sdk.AddTool(f.Tool, f.Handler)
	}
	return nil
}

// mountEntry mounts the entry's operation, if the catalogue has it.
func (s *Server) mountEntry(entry Entry) error {
	op, ok := s.cfg.Catalogue.Operation(entry.Name)
	if !ok {
		return nil
	}
	t, err := mount(entry, op)
	if err != nil {
		return fmt.Errorf("tool %s: %w", entry.Name, err)
	}
	s.tools[entry.Name] = t
	s.places = s.places.With(op.Input(core.Agent).Places().Below("params", "arguments"))
	s.sdk.AddTool(t.described, s.handler(t))
	return nil
}

// allowed is the refusal of the scopes or environment rail, nil for none. Tools
// without an operation are open to every caller.
func (t *tool) allowed(caller core.Principal) error {
	if t.op == nil {
		return nil
	}
	return t.op.Allowed(caller)
}
