package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/mailhelm/mailhelm/storage/engine"
)

// Writes and reads of three tables. A parent's deletion deletes its children.
var (
	addParent = engine.Register("test: add parent", `INSERT INTO later_parents (org_id, id) VALUES ($1, $2)`)
	addChild  = engine.Register("test: add child", `INSERT INTO later_children (org_id, id, parent) VALUES ($1, $2, $3)`)
	addNote   = engine.Register("test: add note", `INSERT INTO later_notes (org_id, id) SELECT $1, v ->> 'id' FROM `+engine.ParameterRows(`$2`)+` WHERE TRUE`)
	dropNotes = engine.Register("test: drop notes", `DELETE FROM later_notes WHERE org_id = $1 AND id < $2`)
	drop      = engine.Register("test: drop parent", `DELETE FROM later_parents WHERE org_id = $1 AND id = $2`)
	rename    = engine.Register("test: rename children", `UPDATE later_children SET id = id || $1 WHERE org_id = $2 AND parent = $3`)
	renamed   = engine.Register("test: rename children, with ids", `UPDATE later_children SET id = id || $1 WHERE org_id = $2 AND parent = $3 RETURNING id`)
	children  = engine.Register("test: children", `SELECT id FROM later_children WHERE org_id = $1 ORDER BY id`)
	notes     = engine.Register("test: notes", `SELECT id FROM later_notes WHERE org_id = $1 ORDER BY id`)
	parents   = engine.Register("test: parents", `SELECT id FROM later_parents WHERE org_id = $1 ORDER BY id`)
)

// later is a database with the three tables.
type later struct {
	*testing.T
	db *database
}

func eachLater(t *testing.T, f func(t *testing.T, l later)) {
	eachDatabase(t, func(t *testing.T, db *database) {
		for _, table := range []string{
			`CREATE TABLE later_parents (org_id text, id text, PRIMARY KEY (org_id, id))`,
			`CREATE TABLE later_children (org_id text, id text PRIMARY KEY, parent text, FOREIGN KEY (org_id, parent) REFERENCES later_parents (org_id, id) ON DELETE CASCADE)`,
			`CREATE TABLE later_notes (org_id text, id text PRIMARY KEY)`,
		} {
			if _, err := db.Writer().ExecContext(t.Context(), table); err != nil {
				t.Fatal(err)
			}
		}
		f(t, later{t, db})
	})
}

// in runs f in a transaction.
func (l later) in(f func(ctx context.Context)) error {
	return l.db.InTx(l.Context(), func(ctx context.Context) error { f(ctx); return nil })
}

// write runs Later.
func (l later) write(ctx context.Context, s *engine.Statement, args ...any) {
	l.Helper()
	if err := l.db.Later(ctx, s, args...); err != nil {
		l.Error(err)
	}
}

// note adds a note by LaterRows.
func (l later) note(ctx context.Context, id string) {
	l.Helper()
	if err := engine.LaterRows(ctx, l.db.DB, addNote, "o", []map[string]string{{"id": id}}); err != nil {
		l.Error(err)
	}
}

// want checks the ids that a read returns.
func (l later) want(ctx context.Context, s *engine.Statement, want ...string) {
	l.Helper()
	if got, err := engine.Values[string](ctx, l.db.DB, s, "o"); err != nil || !slices.Equal(got, want) {
		l.Errorf("%s: %v, want %v (%v)", s.Name(), got, want, err)
	}
}

// waits checks how many writes wait in the transaction on PostgreSQL. None waits on SQLite.
func (l later) waits(ctx context.Context, want int) {
	l.Helper()
	if l.db.Dialect() == engine.SQLite {
		want = 0
	}
	if n := l.db.Waiting(ctx); n != want {
		l.Errorf("%d writes wait, want %d", n, want)
	}
}

// TestLaterWritesRunBeforeTheCommit checks that writes wait, that all of them are committed,
// also in repeated transactions in which their combination is prepared, and that a
// transaction that fails undoes them.
func TestLaterWritesRunBeforeTheCommit(t *testing.T) {
	t.Parallel()
	eachLater(t, func(t *testing.T, l later) {
		for i := range 4 {
			err := l.in(func(ctx context.Context) {
				l.write(ctx, addParent, "o", fmt.Sprint("p", i))
				l.note(ctx, fmt.Sprint("n", i))
				l.waits(ctx, 2)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		l.want(t.Context(), parents, "p0", "p1", "p2", "p3")
		l.want(t.Context(), notes, "n0", "n1", "n2", "n3")
		l.write(t.Context(), addParent, "o", "p4") // outside of a transaction
		l.want(t.Context(), parents, "p0", "p1", "p2", "p3", "p4")
		errUndone := errors.New("undone")
		err := l.db.InTx(t.Context(), func(ctx context.Context) error {
			l.write(ctx, dropNotes, "o", "n9")
			l.write(ctx, addParent, "o", "p5")
			return errUndone
		})
		if !errors.Is(err, errUndone) {
			t.Error(err)
		}
		l.want(t.Context(), notes, "n0", "n1", "n2", "n3")
	})
}

// TestLaterWritesAreSeen checks that a transaction reads the writes that waited, that the
// same write twice takes effect twice, and that a deletion deletes rows that waited.
func TestLaterWritesAreSeen(t *testing.T) {
	t.Parallel()
	eachLater(t, func(t *testing.T, l later) {
		err := l.in(func(ctx context.Context) {
			l.write(ctx, addParent, "o", "p")
			l.want(ctx, notes) // another table
			l.waits(ctx, 1)
			l.want(ctx, parents, "p")
			l.waits(ctx, 0)
			l.note(ctx, "n1")
			l.note(ctx, "n2")
			l.waits(ctx, 1)
			rows, err := engine.Rows(ctx, l.db.DB, engine.Composed{Name: "notes", Text: `SELECT id FROM later_notes`}, func(rows *sql.Rows) (string, error) {
				var id string
				return id, rows.Scan(&id)
			})
			if len(rows) != 2 || err != nil {
				t.Errorf("a composed query reads %v, %v", rows, err)
			}
			l.write(ctx, addChild, "o", "c", "p")
			if _, err := l.db.Exec(ctx, drop, "o", "p"); err != nil {
				t.Error(err)
			}
			l.waits(ctx, 0)
		})
		if err != nil {
			t.Fatal(err)
		}
		l.want(t.Context(), children)
		l.want(t.Context(), notes, "n1", "n2")
	})
}

// TestLastWriteRunsWithThoseThatWait checks that ExecWithWaiting and ValuesWithWaiting run all and
// return the number of their own rows, and their values.
func TestLastWriteRunsWithThoseThatWait(t *testing.T) {
	t.Parallel()
	eachLater(t, func(t *testing.T, l later) {
		for round := range 3 {
			err := l.in(func(ctx context.Context) {
				parent := fmt.Sprint("p", round)
				if _, err := l.db.Exec(ctx, addParent, "o", parent); err != nil {
					t.Error(err)
				}
				for i := range 3 {
					if _, err := l.db.Exec(ctx, addChild, "o", fmt.Sprint(round, "c", i), parent); err != nil {
						t.Error(err)
					}
				}
				l.note(ctx, parent)
				l.write(ctx, dropNotes, "o", parent) // sees the note of this round
				l.waits(ctx, 1)
				n, err := l.db.ExecWithWaiting(ctx, rename, "x", "o", parent)
				if n != 3 || err != nil {
					t.Errorf("%d rows, %v", n, err)
				}
				l.waits(ctx, 0)
				l.note(ctx, fmt.Sprint("z", round))
				l.waits(ctx, 1)
				ids, err := engine.ValuesWithWaiting[string](ctx, l.db.DB, renamed, "y", "o", parent)
				if slices.Sort(ids); fmt.Sprint(ids) != fmt.Sprintf("[%[1]dc0xy %[1]dc1xy %[1]dc2xy]", round) || err != nil {
					t.Errorf("%v, %v", ids, err)
				}
				l.waits(ctx, 0)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		l.want(t.Context(), notes, "p2", "z0", "z1", "z2")
		l.want(t.Context(), children, "0c0xy", "0c1xy", "0c2xy", "1c0xy", "1c1xy", "1c2xy", "2c0xy", "2c1xy", "2c2xy")
	})
}

// TestLaterWritesAndSavepoints checks that a failed attempt undoes the writes of the attempt
// and no others.
func TestLaterWritesAndSavepoints(t *testing.T) {
	t.Parallel()
	eachLater(t, func(t *testing.T, l later) {
		errTolerated, errFailed := errors.New("tolerated"), errors.New("failed")
		runs := 0
		err := l.db.InTx(t.Context(), func(ctx context.Context) error {
			runs++
			l.note(ctx, "before")
			err := l.db.Attempt(ctx, errTolerated, func() error {
				l.write(ctx, addParent, "o", "p1")
				l.want(ctx, parents, "p1")
				l.write(ctx, addParent, "o", "p2")
				return errFailed
			})
			if !errors.Is(err, errTolerated) {
				return err
			}
			return l.db.Attempt(ctx, errTolerated, func() error {
				l.write(ctx, addParent, "o", "p3")
				return nil
			})
		})
		if err != nil || runs != 2 {
			t.Fatalf("after %d runs: %v", runs, err)
		}
		l.want(t.Context(), notes, "before")
		l.want(t.Context(), parents, "p3")
	})
}

// TestAttemptsSetNoSavepointAtFirst checks that a transaction runs once and without a savepoint if
// its attempts succeed, and that it is not committed after a failed attempt whose error was
// ignored, but runs again.
func TestAttemptsSetNoSavepointAtFirst(t *testing.T) {
	t.Parallel()
	eachLater(t, func(t *testing.T, l later) {
		errTolerated, errFailed := errors.New("tolerated"), errors.New("failed")
		runs := 0
		in := func(result error) {
			must(t, l.db.InTx(t.Context(), func(ctx context.Context) error {
				runs++
				_ = l.db.Attempt(ctx, errTolerated, func() error {
					l.write(ctx, addParent, "o", fmt.Sprint("p", runs))
					return result
				})
				return nil
			}))
		}
		if in(nil); runs != 1 {
			t.Errorf("%d runs of a transaction whose attempt succeeded", runs)
		}
		if in(errFailed); runs != 3 {
			t.Errorf("%d runs after an attempt that failed", runs)
		}
		l.want(t.Context(), parents, "p1")
	})
}

// TestLaterWriteThatFails checks that the transaction fails, and that nothing of it stays.
func TestLaterWriteThatFails(t *testing.T) {
	t.Parallel()
	eachLater(t, func(t *testing.T, l later) {
		l.note(t.Context(), "taken")
		err := l.db.InTx(t.Context(), func(ctx context.Context) error {
			l.write(ctx, addParent, "o", "p")
			return engine.LaterRows(ctx, l.db.DB, addNote, "o", []map[string]string{{"id": "taken"}})
		})
		if err == nil {
			t.Error("a write that waited failed, and the transaction did not")
		}
		l.want(t.Context(), parents)
	})
}
