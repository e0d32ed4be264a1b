package engine

import (
	"fmt"
	"strings"
)

// Statement is one SQL text, the same for both engines. Statements are package
// variables beside the functions that use them.
type Statement struct {
	// name identifies the failed statement in errors and tests. Errors never contain
	// values.
	name string
	text string
	// opened is the text with its slots opened, as PostgreSQL reads it.
	opened string
	writes bool
	// point is set for reads that find a few rows by their key.
	point bool
	index int
}

// Statements returns every registered statement of all rooms that the program imports.
func Statements() []*Statement { return statements }

// Name returns the name that identifies the statement in errors.
func (s *Statement) Name() string { return s.name }

// Text returns the statement as it was registered.
func (s *Statement) Text() string { return s.text }

// statements lists every registered statement. It is complete when main starts.
var statements []*Statement

// Register returns a new statement and adds it to Statements. A text that does not begin
// with SELECT runs on the connection that writes.
func Register(name, text string) *Statement {
	text = strings.TrimSpace(text)
	s := &Statement{name: name, text: text, opened: openSlots(text), writes: !strings.HasPrefix(text, "SELECT"), index: len(statements)}
	statements = append(statements, s)
	return s
}

// RegisterPoint is Register for a read that finds a few rows by their key. On SQLite the
// read runs to its end even if its context ends. It takes microseconds; watching a
// context would take two goroutines and as much time again.
func RegisterPoint(name, text string) *Statement {
	s := Register(name, text)
	s.point = true
	return s
}

const (
	slotOpens  = "/*pg"
	slotCloses = "*/"
)

// openSlots replaces every /*pg text*/ with text. SQLite receives the original SQL and
// reads a comment there.
func openSlots(text string) string {
	var opened strings.Builder
	for {
		before, rest, found := strings.Cut(text, slotOpens)
		opened.WriteString(before)
		if !found {
			return opened.String()
		}
		inside, after, _ := strings.Cut(rest, slotCloses)
		opened.WriteString(inside)
		text = after
	}
}

// on returns the statement as the engine reads it.
func (s *Statement) on(e Dialect) string {
	if e == PostgreSQL {
		return s.opened
	}
	return s.text
}

func (s *Statement) wrap(err error) error {
	return fmt.Errorf("storage: %s: %w", s.name, err)
}
