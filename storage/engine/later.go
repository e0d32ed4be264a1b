package engine

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// This file combines writes at the end of a transaction on PostgreSQL, so that they take one
// round trip. See core/doc/decisions/0136.

// waitingWrite is a write of [DB.Later] that has not run yet.
type waitingWrite struct {
	statement *Statement
	args      []any
}

// maxCombinations limits how many combinations of writes a pool remembers. Operations have a
// few dozen.
const maxCombinations = 256

// Later runs a write of which nothing but success matters, at the latest before the
// transaction commits. On PostgreSQL the writes that wait are combined into one statement.
// They run in any order and do not see each other's rows, so s must not depend on them. An
// error of s is returned by a later call of the transaction, or by [DB.InTx].
//
// The rest of the transaction sees the writes. Before a statement that names the table of a
// waiting write, and before a DELETE, which may cascade to it, those that wait run. A DELETE
// passed to Later must not cascade, and no foreign key may lead to the rows of an INSERT. On
// SQLite, which has no round trips, and outside of a transaction, Later runs s at once.
func (db *DB) Later(ctx context.Context, s *Statement, args ...any) error {
	t := db.transaction(ctx)
	if t == nil || db.dialect == SQLite {
		_, err := db.Exec(ctx, s, args...)
		return err
	}
	if t.waitsFor(s.text) {
		if _, err := db.runWaiting(ctx, t); err != nil {
			return err
		}
	}
	t.waiting = append(t.waiting, waitingWrite{s, args})
	return nil
}

// LaterRows is [DB.Later] for a statement whose first parameter is the organization and whose
// second parameter is the rows; see [JSONParameter].
func LaterRows[T any](ctx context.Context, db *DB, s *Statement, orgID string, rows []T) error {
	parameter, err := JSONParameter(rows)
	if err != nil {
		return err
	}
	return db.Later(ctx, s, orgID, parameter)
}

// ExecWithWaiting is [DB.Exec] for the last write of a transaction. On PostgreSQL the writes
// that wait run in the same statement, so s must not change or read the rows that they
// write. s may write to a table of theirs.
func (db *DB) ExecWithWaiting(ctx context.Context, s *Statement, args ...any) (int, error) {
	t := db.transaction(ctx)
	if t == nil || len(t.waiting) == 0 {
		return db.Exec(ctx, s, args...)
	}
	t.waiting = append(t.waiting, waitingWrite{s, args})
	return db.runWaiting(ctx, t)
}

// ValuesWithWaiting is [DB.ExecWithWaiting] for a write that returns rows. It returns the first
// column of each.
func ValuesWithWaiting[V any](ctx context.Context, db *DB, s *Statement, args ...any) ([]V, error) {
	t := db.transaction(ctx)
	if t == nil || len(t.waiting) == 0 {
		return Values[V](ctx, db, s, args...)
	}
	all := append(t.waiting, waitingWrite{s, args})
	t.waiting = nil // before Values, which would run them
	return Values[V](ctx, db, t.pool.combination(all), argsOf(all)...)
}

// runWaiting runs the writes that wait in the transaction t, whose context is ctx. It returns
// the number of rows that the last of them changed.
func (db *DB) runWaiting(ctx context.Context, t *transaction) (int, error) {
	all := t.waiting
	t.waiting = nil // before Exec, which would run them
	switch len(all) {
	case 0:
		return 0, nil
	case 1:
		return db.Exec(ctx, all[0].statement, all[0].args...)
	}
	return db.Exec(ctx, t.pool.combination(all), argsOf(all)...)
}

// argsOf returns the arguments of a combination.
func argsOf(all []waitingWrite) []any {
	var args []any
	for _, w := range all {
		args = append(args, w.args...)
	}
	return args
}

// runWaitingBefore runs the writes that wait in the transaction t, if the statement s may
// depend on them.
func (db *DB) runWaitingBefore(ctx context.Context, t *transaction, s *Statement) error {
	if len(t.waiting) == 0 || !strings.HasPrefix(s.text, "DELETE") && !t.waitsFor(s.text) {
		return nil
	}
	_, err := db.runWaiting(ctx, t)
	return err
}

// waitsFor reports whether a write waits to a table that the SQL names.
func (t *transaction) waitsFor(sql string) bool {
	return slices.ContainsFunc(t.waiting, func(w waitingWrite) bool { return strings.Contains(sql, w.statement.table) })
}

// written matches the beginning of a write with the name of its table.
var written = regexp.MustCompile(`^(?:INSERT INTO|DELETE FROM|UPDATE)\s+(\w+)`)

// tableOf returns the table that a write changes, "" for another statement.
func tableOf(sql string) string {
	if found := written.FindStringSubmatch(sql); found != nil {
		return found[1]
	}
	return ""
}

// numbered matches a parameter of a statement.
var numbered = regexp.MustCompile(`\$\d+`)

// combination returns a statement that runs all the writes. Those before the last are
// common table expressions, which PostgreSQL runs whether or not the last one reads them.
func (p *pool) combination(all []waitingWrite) *Statement {
	var key strings.Builder
	for _, w := range all {
		key.WriteString(strconv.Itoa(w.statement.index) + " ")
	}
	p.combining.Lock()
	defer p.combining.Unlock()
	if known := p.combined[key.String()]; known != nil {
		return known
	}
	combined := combine(all)
	if len(p.combined) < maxCombinations {
		p.combined[key.String()] = combined
	}
	return combined
}

// combine builds the statement of [pool.combination].
func combine(all []waitingWrite) *Statement {
	var text strings.Builder
	names := make([]string, len(all))
	before := 0 // number of parameters of the statements before
	for i, w := range all {
		names[i] = w.statement.name
		own := numbered.ReplaceAllStringFunc(w.statement.opened, func(p string) string {
			n, _ := strconv.Atoi(p[1:]) // the pattern has only digits
			return "$" + strconv.Itoa(before+n)
		})
		before += len(w.args)
		switch {
		case i == len(all)-1:
			text.WriteString("\n" + own)
		case i == 0:
			fmt.Fprintf(&text, "WITH waiting_%d AS (%s)", i, own)
		default:
			fmt.Fprintf(&text, ", waiting_%d AS (%s)", i, own)
		}
	}
	return &Statement{name: strings.Join(names, ", "), text: text.String(), opened: text.String(), writes: true, own: &usage{}}
}
