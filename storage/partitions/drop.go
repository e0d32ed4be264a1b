package partitions

import (
	"context"
	"fmt"
	"time"
)

// mostKept is how many rows of an expired month may still be in their retention, because they
// were received later. They move to the default partition. With more, the month stays until the
// purge of rows has deleted them.
const mostKept = 1000

// Drop removes the months whose rows are all from before the time in the parameter before. Rows
// that were received later stay. It returns the names of the removed partitions.
//
// A month is first detached, which needs its locks for milliseconds, and is then a table of its
// own. An interrupted call leaves such a table, with which the next call continues.
func (k Keeper) Drop(ctx context.Context, table string, before time.Time) ([]string, error) {
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
	for _, m := range s.months {
		if m.next().After(before) {
			break
		}
		detached, err := k.detach(ctx, t, m, before)
		if err != nil {
			return nil, err
		}
		if detached {
			s.loose = append(s.loose, m)
		}
	}
	var dropped []string
	for _, m := range s.loose {
		if m.next().After(before) {
			// An organization has got a longer retention since the month was detached.
			if err := k.run(ctx, "ALTER TABLE "+t.Name+" ATTACH PARTITION "+t.of(m)+" "+t.values(m)); err != nil {
				return dropped, err
			}
			continue
		}
		if err := k.dropLoose(ctx, t, m, before); err != nil {
			return dropped, err
		}
		dropped = append(dropped, t.of(m))
	}
	return dropped, nil
}

// detach detaches an expired month, unless it has many rows that were received later.
func (k Keeper) detach(ctx context.Context, t Table, m month, before time.Time) (bool, error) {
	if t.Received != "" {
		n := 0
		if err := do(ctx, k.from, false, func(tx transaction) (err error) {
			n, err = countUpTo(ctx, tx, t.of(m), fmt.Sprintf("%s >= %d", t.Received, before.UnixMicro()), mostKept+1)
			return err
		}); err != nil {
			return false, err
		}
		if n > mostKept {
			k.db.Logger().InfoContext(ctx, "an old partition stays: rows of it were received later", "table", t.Name, "month", m.name())
			return false, nil
		}
	}
	return true, k.run(ctx, "ALTER TABLE "+t.Name+" DETACH PARTITION "+t.of(m))
}

// dropLoose drops a detached month. Its rows that were received later go to the divided table.
func (k Keeper) dropLoose(ctx context.Context, t Table, m month, before time.Time) error {
	statements := []string{"DROP TABLE " + t.of(m)}
	if t.Received != "" {
		statements = []string{fmt.Sprintf("INSERT INTO %s SELECT * FROM %s WHERE %s >= %d", t.Name, t.of(m), t.Received, before.UnixMicro()), statements[0]}
	}
	return do(ctx, k.from, true, func(tx transaction) error { return all(ctx, tx, statements...) })
}
