package engine

import (
	"fmt"
	"strings"
)

// Statement is one SQL text, the same for both engines. Statements are package
// variables beside the functions that use them.
type Statement struct {
	// name says in an error or a test which statement failed. Values never do.
	name string
	text string
	// opened is the text with its slots open, as PostgreSQL reads it.
	opened string
	writes bool
	// point is set for reads that find a handful of rows by their key.
	point bool
	index int
}

// Statements lists every registered statement, of all rooms that the program imports.
func Statements() []*Statement { return statements }

// Name says in an error which statement failed.
func (s *Statement) Name() string { return s.name }

// Text is the statement as it was registered.
func (s *Statement) Text() string { return s.text }

// statements holds every registered statement. It is complete when main starts.
var statements []*Statement

// Register makes a statement known. What does not begin with SELECT runs on the
// connection that may write.
func Register(name, text string) *Statement {
	text = strings.TrimSpace(text)
	s := &Statement{name: name, text: text, opened: openSlots(text), writes: !strings.HasPrefix(text, "SELECT"), index: len(statements)}
	statements = append(statements, s)
	return s
}

// RegisterPoint makes a read known that finds a handful of rows by their key. On
// SQLite it runs to its end whatever becomes of its caller: it takes microseconds,
// and watching a context would take two goroutines, which cost as much again.
func RegisterPoint(name, text string) *Statement {
	s := Register(name, text)
	s.point = true
	return s
}

const (
	slotOpens  = "/*pg"
	slotCloses = "*/"
)

// openSlots turns every /*pg text*/ into text. SQLite is handed the SQL as it
// stands and reads a comment there.
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

// on is the statement as the engine reads it.
func (s *Statement) on(e Dialect) string {
	if e == PostgreSQL {
		return s.opened
	}
	return s.text
}

func (s *Statement) wrap(err error) error {
	return fmt.Errorf("storage: %s: %w", s.name, err)
}
