package partitions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// moveAhead is how far the constraint of a move is ahead. Until the move has ended, rows from
// after it are refused, and such rows come only from a wrong clock: activities are never after
// their receipt, messages and their events at most a day, and days of reports at most two.
const moveAhead = 28 * 24 * time.Hour

// renewBefore is how near the constraint of an unfinished move may come before it is replaced by
// a later one.
const renewBefore = 7 * 24 * time.Hour

// Move divides a table that has rows, in steps of which each is short or lets reads and writes go
// on. It returns true if the table is divided. An interrupted move continues at the step that the
// catalogue shows.
func (k Keeper) Move(ctx context.Context, table string, now time.Time) (bool, error) {
	t, err := named(table)
	if err != nil || !k.divides() {
		return false, err
	}
	const steps = 12 // more than any move has
	for range steps {
		done, err := k.step(ctx, t, now)
		if err != nil || done {
			return done, err
		}
	}
	return false, nil
}

// step makes the next step of a move. It returns true if there is none.
func (k Keeper) step(ctx context.Context, t Table, now time.Time) (bool, error) {
	var s shape
	if err := do(ctx, k.from, false, func(tx transaction) (err error) {
		s, err = read(ctx, tx, t)
		return err
	}); err != nil || s.divided {
		return s.divided, err
	}
	log := k.db.Logger().With("table", t.Name)
	none := month{}
	switch {
	case s.key < keyBuilt:
		log.InfoContext(ctx, "table is being divided: the index of its new key is built; reads and writes go on")
		return false, k.buildKey(ctx, t, s.key)
	case s.moving == none:
		until := monthOf(now.Add(moveAhead)).next()
		log.InfoContext(ctx, "table is being divided: a constraint is added", "until", until.Time)
		return false, k.run(ctx, "ALTER TABLE "+t.Name+" ADD CONSTRAINT "+t.before(until)+" CHECK ("+t.Column+" < "+t.bound(until)+") NOT VALID")
	case !s.validated && s.moving.Before(now.Add(renewBefore)):
		return false, k.run(ctx, "ALTER TABLE "+t.Name+" DROP CONSTRAINT "+t.before(s.moving))
	case !s.validated:
		log.InfoContext(ctx, "table is being divided: its rows are checked; reads and writes go on", "until", s.moving.Time)
		err := k.run(ctx, "ALTER TABLE "+t.Name+" VALIDATE CONSTRAINT "+t.before(s.moving))
		if hasCode(err, checkViolation) {
			log.WarnContext(ctx, "table is being divided: rows from the far future are set aside until the end of the move", "from", s.moving.Time)
			return false, k.park(ctx, t, s.moving)
		}
		return false, err
	default:
		log.InfoContext(ctx, "table is being divided: it becomes the first partition", "until", s.moving.Time)
		return false, do(ctx, k.from, true, func(tx transaction) error {
			if err := all(ctx, tx, "LOCK TABLE "+t.Name+" IN ACCESS EXCLUSIVE MODE"); err != nil {
				return err
			}
			return divide(ctx, tx, t, s, s.moving)
		})
	}
}

// buildKey builds the index that becomes the primary key of the divided table, after it has
// removed an incomplete one.
func (k Keeper) buildKey(ctx context.Context, t Table, state keyState) error {
	if state == keyBroken {
		if err := k.run(ctx, "DROP INDEX "+t.key()); err != nil {
			return err
		}
	}
	return k.from.alone(ctx, "CREATE UNIQUE INDEX CONCURRENTLY "+t.key()+" ON "+t.Name+" ("+t.Key+")")
}

// setKey gives the table the primary key of [Table.Key], from the built index if there is one. The
// caller has locked the table.
func setKey(ctx context.Context, tx transaction, t Table, state keyState) error {
	if state == keyReady {
		return nil
	}
	name := t.Name + "_pkey"
	statements, columns := []string{"ALTER TABLE " + t.Name + " DROP CONSTRAINT " + name}, "("+t.Key+")"
	switch state {
	case keyBuilt:
		columns = "USING INDEX " + t.key()
	case keyBroken:
		statements = append(statements, "DROP INDEX "+t.key())
	}
	return all(ctx, tx, append(statements, "ALTER TABLE "+t.Name+" ADD CONSTRAINT "+name+" PRIMARY KEY "+columns)...)
}

// run runs one statement in a transaction of its own.
func (k Keeper) run(ctx context.Context, statement string) error {
	return do(ctx, k.from, true, func(tx transaction) error { return all(ctx, tx, statement) })
}

// park moves the rows from after the constraint to a table of their own. They are not visible
// until the move ends, in the next step but one.
func (k Keeper) park(ctx context.Context, t Table, until month) error {
	return do(ctx, k.from, true, func(tx transaction) error {
		return all(ctx, tx,
			"CREATE TABLE IF NOT EXISTS "+t.parked()+" (LIKE "+t.Name+" INCLUDING ALL EXCLUDING CONSTRAINTS)",
			moveRows(t.Name, t.parked(), t.Column+" >= "+t.bound(until)))
	})
}

// moveRows returns the statement that moves rows from one table to another.
func moveRows(from, to, condition string) string {
	return "WITH moved AS (DELETE FROM " + from + " WHERE " + condition + " RETURNING *) INSERT INTO " + to + " SELECT * FROM moved"
}

// These queries read what a divided table must have of the table that it replaces. $1 is the name
// of the table.
const (
	// indexQuery selects each index with its definition, or with that of its primary key.
	indexQuery = `SELECT c.relname, coalesce('ALTER TABLE ' || quote_ident($1) || ' ADD CONSTRAINT ' || quote_ident(o.conname) || ' ' || pg_get_constraintdef(o.oid), pg_get_indexdef(i.indexrelid))
		FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid LEFT JOIN pg_constraint AS o ON o.conindid = i.indexrelid AND o.conrelid = i.indrelid
		WHERE i.indrelid = CAST(CAST($1 AS text) AS regclass) ORDER BY c.relname`
	// grantQuery selects the statements that grant what others may do with the table.
	grantQuery = `SELECT 'GRANT ' || a.privilege_type || ' ON ' || quote_ident($1) || ' TO ' || coalesce(quote_ident(r.rolname), 'PUBLIC') || CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END, ''
		FROM pg_class AS c CROSS JOIN LATERAL aclexplode(c.relacl) AS a LEFT JOIN pg_roles AS r ON r.oid = a.grantee
		WHERE c.oid = CAST(CAST($1 AS text) AS regclass) AND a.grantee <> c.relowner`
)

// divide makes the table the first partition of a new table of its name. The caller has locked
// the table. All its rows are before until: it has a constraint that says so, or no rows.
func divide(ctx context.Context, tx transaction, t Table, s shape, until month) error {
	if err := setKey(ctx, tx, t, s.key); err != nil {
		return err
	}
	indexes, err := tx.rows(ctx, indexQuery, t.Name)
	if err != nil {
		return err
	}
	grants, err := tx.rows(ctx, grantQuery, t.Name)
	if err != nil {
		return err
	}
	first := t.before(until)
	statements := []string{"ALTER TABLE " + t.Name + " RENAME TO " + first}
	for _, index := range indexes {
		statements = append(statements, "ALTER INDEX "+index[0]+" RENAME TO "+first+strings.TrimPrefix(index[0], t.Name))
	}
	statements = append(statements, "CREATE TABLE "+t.Name+" (LIKE "+first+" INCLUDING ALL EXCLUDING INDEXES EXCLUDING CONSTRAINTS) PARTITION BY RANGE ("+t.Column+")")
	for _, index := range indexes {
		statements = append(statements, index[1])
	}
	for _, grant := range grants {
		statements = append(statements, grant[0])
	}
	statements = append(statements, "ALTER TABLE "+t.Name+" ATTACH PARTITION "+first+" FOR VALUES FROM (MINVALUE) TO ("+t.bound(until)+")")
	if s.moving == until {
		statements = append(statements, "ALTER TABLE "+first+" DROP CONSTRAINT "+t.before(until))
	}
	statements = append(statements,
		"CREATE TABLE "+t.of(until)+" PARTITION OF "+t.Name+" "+t.values(until),
		"CREATE TABLE "+t.rest()+" PARTITION OF "+t.Name+" DEFAULT")
	if s.parked {
		statements = append(statements, "INSERT INTO "+t.Name+" "+t.back(), "DROP TABLE "+t.parked())
	}
	if err := all(ctx, tx, statements...); err != nil {
		return fmt.Errorf("the table stays as it is: %w", err)
	}
	return errors.Join(nameIndexes(ctx, tx, t, t.of(until)), nameIndexes(ctx, tx, t, t.rest()))
}

// childQuery selects the indexes of a partition, $1, with those of the divided table that they
// belong to.
const childQuery = `SELECT c.relname, p.relname FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
	JOIN pg_inherits AS h ON h.inhrelid = i.indexrelid JOIN pg_class AS p ON p.oid = h.inhparent
	WHERE i.indrelid = CAST(CAST($1 AS text) AS regclass)`

// nameIndexes names the indexes of a new partition as those of the first one, so that people who
// read query plans know them.
func nameIndexes(ctx context.Context, tx transaction, t Table, partition string) error {
	indexes, err := tx.rows(ctx, childQuery, partition)
	for _, index := range indexes {
		if name := partition + strings.TrimPrefix(index[1], t.Name); err == nil && name != index[0] {
			err = all(ctx, tx, "ALTER INDEX "+index[0]+" RENAME TO "+name)
		}
	}
	return err
}
