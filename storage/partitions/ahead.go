package partitions

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
)

const (
	// monthsAhead is how many months after the present one have partitions.
	monthsAhead = 2
	// mostMoved is how many rows of the default partition are moved when their month gets a
	// partition. The table is locked for about a second.
	mostMoved = 100_000
)

// errCrowded is the error of making a partition for too many rows of the default partition.
var errCrowded = errors.New("the default partition has too many rows of the month")

// MakeAhead makes the partitions of the present month and of the next ones that are missing. Rows
// in the default partition move to theirs. It returns the names of the new partitions.
//
// If the default partition has very many rows of a month, as after months without a worker, they
// stay there, and later months get their partitions.
func (k Keeper) MakeAhead(ctx context.Context, table string, now time.Time) ([]string, error) {
	t, err := named(table)
	if err != nil || !k.divides() {
		return nil, err
	}
	var s shape
	if err := do(ctx, k.from, false, func(tx transaction) (err error) {
		s, err = read(ctx, tx, t)
		return err
	}); err != nil || !s.divided {
		return nil, err
	}
	last := monthOf(now)
	for range monthsAhead {
		last = last.next()
	}
	var made []string
	for _, m := range s.missing(last) {
		switch err := k.makeMonth(ctx, t, m); {
		case errors.Is(err, errCrowded):
			k.db.Logger().WarnContext(ctx, "no partition for a month: the default partition has too many rows of it; they stay there until their retention ends", "table", t.Name, "month", m.name())
		case err != nil:
			return made, err
		default:
			made = append(made, t.of(m))
		}
	}
	if len(made) > 0 {
		// Automatic vacuum does not analyze the divided table itself.
		err = do(ctx, k.from, false, func(tx transaction) error { return all(ctx, tx, "ANALYZE "+t.Name) })
	}
	return made, err
}

// makeMonth makes the partition of a month. It is complete before it is attached.
func (k Keeper) makeMonth(ctx context.Context, t Table, m month) error {
	return do(ctx, k.from, true, func(tx transaction) error {
		if err := all(ctx, tx,
			"LOCK TABLE ONLY "+t.Name+" IN SHARE UPDATE EXCLUSIVE MODE",
			"LOCK TABLE "+t.rest()+" IN ACCESS EXCLUSIVE MODE"); err != nil {
			return err
		}
		n, err := countUpTo(ctx, tx, t.rest(), t.within(m), k.mostMoved+1)
		switch {
		case err != nil:
			return err
		case n > k.mostMoved:
			return errCrowded
		}
		if err := all(ctx, tx,
			"CREATE TABLE "+t.of(m)+" (LIKE "+t.Name+" INCLUDING ALL)",
			moveRows(t.rest(), t.of(m), t.within(m)),
			"ALTER TABLE "+t.Name+" ATTACH PARTITION "+t.of(m)+" "+t.values(m)); err != nil {
			return err
		}
		return nameIndexes(ctx, tx, t, t.of(m))
	})
}

// countUpTo returns the number of rows that match a condition, or limit if there are more.
func countUpTo(ctx context.Context, tx transaction, table, condition string, limit int) (int, error) {
	counts, err := tx.rows(ctx, fmt.Sprintf("SELECT CAST(count(*) AS text), '' FROM (SELECT 1 FROM %s WHERE %s LIMIT %d) AS counted", table, condition, limit))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(counts[0][0])
}
