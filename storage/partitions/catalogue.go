package partitions

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// shape is what the catalogue of PostgreSQL says about a table.
type shape struct {
	divided bool
	// until is the first month that is not in the partition with the rows from before it. It is
	// zero if the table is not divided.
	until month
	// months has the partitions, and loose the tables that were partitions and are no more.
	months, loose []month
	// rest is true if the table has a default partition, parked if there are parked rows.
	rest, parked bool
	// moving is the month of the constraint of a move, or zero. It is validated if all rows are
	// known to be before it.
	moving    month
	validated bool
	// key is the state of the primary key of [Table.Key].
	key keyState
}

// keyState says how far a table is from the primary key that it needs to be divided.
type keyState int

const (
	// keyMissing: the table has the primary key from the schema.
	keyMissing keyState = iota
	// keyBroken: the build of an index for the other key was interrupted.
	keyBroken
	// keyBuilt: the index is complete. It becomes the key when the table is divided.
	keyBuilt
	// keyReady: the primary key has the column with the time.
	keyReady
)

// These queries read the catalogue. $1 is the name of the table.
const (
	kindQuery   = `SELECT CAST(c.relkind AS text), '' FROM pg_class AS c WHERE c.relname = $1 AND c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind IN ('r', 'p')`
	piecesQuery = `SELECT substr(c.relname, length($1) + 2), CASE WHEN c.relispartition THEN 'attached' ELSE '' END FROM pg_class AS c
		WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind = 'r'
		AND starts_with(c.relname, $1 || '_') AND substr(c.relname, length($1) + 2) ~ '^([0-9]{6}|before_[0-9]{6}|default|parked)$'`
	movingQuery = `SELECT substr(o.conname, length($1) + 9), CASE WHEN o.convalidated THEN 'validated' ELSE '' END FROM pg_constraint AS o
		JOIN pg_class AS c ON c.oid = o.conrelid
		WHERE c.relname = $1 AND c.relnamespace = CAST(current_schema() AS regnamespace) AND o.contype = 'c' AND starts_with(o.conname, $1 || '_before_')`
	// keyQuery selects the indexes that are the primary key, or become it, with the state of each.
	// $2 is the column with the time, $3 the name of the index that becomes the key.
	keyQuery = `SELECT c.relname, CASE WHEN i.indisprimary THEN 'ready' WHEN i.indisvalid THEN 'built' ELSE 'broken' END FROM pg_index AS i
		JOIN pg_class AS c ON c.oid = i.indexrelid
		WHERE i.indrelid = CAST(CAST($1 AS text) AS regclass) AND (c.relname = $3 OR i.indisprimary AND EXISTS (
			SELECT 1 FROM pg_attribute AS a WHERE a.attrelid = i.indrelid AND a.attname = $2 AND a.attnum = ANY (i.indkey)))`
)

// read returns the shape of a table.
func read(ctx context.Context, tx transaction, t Table) (shape, error) {
	var s shape
	kinds, err := tx.rows(ctx, kindQuery, t.Name)
	if err != nil {
		return s, err
	}
	if len(kinds) == 0 {
		return s, fmt.Errorf("the schema has no table %s", t.Name)
	}
	s.divided = kinds[0][0] == "p"
	pieces, err := tx.rows(ctx, piecesQuery, t.Name)
	if err != nil {
		return s, err
	}
	for _, p := range pieces {
		s.add(p[0], p[1] != "")
	}
	byTime := func(a, b month) int { return a.Compare(b.Time) }
	slices.SortFunc(s.months, byTime)
	slices.SortFunc(s.loose, byTime)
	if s.divided {
		return s, nil
	}
	if s.key, err = readKey(ctx, tx, t); err != nil {
		return s, err
	}
	moving, err := tx.rows(ctx, movingQuery, t.Name)
	if err == nil && len(moving) > 0 {
		s.moving, _ = parseMonth(moving[0][0])
		s.validated = moving[0][1] != ""
	}
	return s, err
}

// readKey returns the state of the primary key of a table that is not divided.
func readKey(ctx context.Context, tx transaction, t Table) (keyState, error) {
	found, err := tx.rows(ctx, keyQuery, t.Name, t.Column, t.key())
	state := keyMissing
	for _, index := range found {
		state = max(state, map[string]keyState{"broken": keyBroken, "built": keyBuilt, "ready": keyReady}[index[1]])
	}
	return state, err
}

// add adds a table by the part of its name after that of the divided table.
func (s *shape) add(name string, attached bool) {
	m, isMonth := parseMonth(name)
	switch {
	case name == "parked":
		s.parked = true
	case name == "default":
		s.rest = attached
	case isMonth && attached:
		s.months = append(s.months, m)
	case isMonth:
		s.loose = append(s.loose, m)
	case attached:
		s.until, _ = parseMonth(strings.TrimPrefix(name, "before_"))
	}
}

// missing returns the months from the oldest partition to the given month that have none.
func (s shape) missing(to month) []month {
	have := map[month]bool{}
	from := s.until
	for _, m := range s.months {
		have[m] = true
	}
	if len(s.months) > 0 {
		from = slices.MinFunc(slices.Collect(maps.Keys(have)), func(a, b month) int { return a.Compare(b.Time) })
	}
	var all []month
	for m := from; !m.After(to.Time); m = m.next() {
		if !have[m] && !slices.Contains(s.loose, m) {
			all = append(all, m)
		}
	}
	return all
}
