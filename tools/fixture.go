package tools

import (
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Fixture is a tool beyond the table, for suites that test the protocol with
// tools of their own. The product has none.
type Fixture struct {
	// Entry is mounted like one of the table when Handler is nil: with the
	// catalogue's operation, behind all rails.
	Entry Entry
	// Tool and Handler are for features without an operation: pictures, rounds of questions,
	// progress. The handler runs before the rails. It must return a new result each time,
	// because the endpoint signs it.
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

// checkAllowed returns the refusal of the scopes or environment rail, nil for none. Every
// caller may use tools without an operation.
func (t *tool) checkAllowed(caller core.Principal) error {
	if t.op == nil {
		return nil
	}
	return t.op.Allowed(caller)
}
