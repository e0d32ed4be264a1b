package engine

import (
	"fmt"
	"strings"
	"sync/atomic"
)

// Statement is one SQL text for both engines. Statements are package variables beside the
// functions that use them.
type Statement struct {
	// name identifies the statement in errors and tests. Errors never contain parameter
	// values.
	name string
	text string
	// opened is the statement's SQL for PostgreSQL. In it, each comment /*pg text*/ is
	// replaced by the text in the comment.
	opened string
	// shielded is the statement's SQL for SQLite; see shieldParameters.
	shielded string
	writes   bool
	// point is true for a read that finds a few rows by their key.
	point bool
	// table is the table that the statement writes to, if it begins with INSERT, UPDATE or
	// DELETE; see [DB.Later].
	table string
	index int
	// own is set for a combination of statements, which has no index; see [pool.combination].
	own *usage
	// layout is how rows of the result were last scanned; see layoutOf.
	layout atomic.Pointer[layout]
}

// Statements returns every statement that the packages of the program have registered. Only
// tests call it: they prepare each statement on both engines and explain its query plan.
func Statements() []*Statement { return statements }

// Name returns the name that identifies the statement in errors.
func (s *Statement) Name() string { return s.name }

// Text returns the statement as it was registered.
func (s *Statement) Text() string { return s.text }

// statements lists every registered statement. All are registered during package
// initialization.
var statements []*Statement

// Register returns a new statement and adds it to Statements. A text that does not begin
// with SELECT runs on a connection that writes.
func Register(name, text string) *Statement {
	text = strings.TrimSpace(text)
	s := &Statement{name: name, text: text, opened: openSlots(text), shielded: shieldParameters(text), writes: !strings.HasPrefix(text, "SELECT"), table: tableOf(text), index: len(statements)}
	statements = append(statements, s)
	return s
}

// RegisterPoint registers a read that finds a few rows by their key. On SQLite such a read
// ignores the end of its context. It takes microseconds, and watching the context would
// need two goroutines and double that time.
func RegisterPoint(name, text string) *Statement {
	s := Register(name, text)
	s.point = true
	return s
}

const (
	slotOpens  = "/*pg"
	slotCloses = "*/"
)

// shieldParameters puts a plus before each parameter of LIMIT and LIKE, for SQLite. SQLite
// compiles a statement again at each execution, to plan it with the value, if such a
// parameter stands alone. That takes longer than reading a page of rows. The plus changes no
// value.
func shieldParameters(text string) string { return bareParameters.Replace(text) }

var bareParameters = strings.NewReplacer("LIMIT $", "LIMIT +$", "LIKE $", "LIKE +$")

// openSlots replaces every comment /*pg text*/ by its text, for PostgreSQL. For SQLite the
// comment stays, so SQLite ignores its text.
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

// on returns the SQL text of the statement for the engine.
func (s *Statement) on(e Dialect) string {
	if e == PostgreSQL {
		return s.opened
	}
	return s.shielded
}

func (s *Statement) wrap(err error) error {
	return fmt.Errorf("storage: %s: %w", s.name, err)
}
