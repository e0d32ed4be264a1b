package partitions

import (
	"context"
	"time"
)

// mostKept is how many rows of an expired month may still be in their retention, because they
// were received later. They move to the default partition. With more, the month stays until the
// purge of rows has deleted them.
const mostKept = 1000

// Drop removes the months whose rows are all from before the time in the parameter before, the
// oldest first. Rows that are still in their retention stay. A month with many of them keeps itself
// and later ones, so that months have no gaps. Drop returns the names of the removed partitions.
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
		if !detached {
			break
		}
		s.loose = append(s.loose, m)
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

// detach detaches an expired month, unless many of its rows are still in their retention.
func (k Keeper) detach(ctx context.Context, t Table, m month, before time.Time) (bool, error) {
	if staying := t.staying(before); staying != "" {
		n, most := 0, mostKept
		if t.OwnPeriods {
			most = 0
		}
		if err := do(ctx, k.from, false, func(tx transaction) (err error) {
			n, err = countUpTo(ctx, tx, t.of(m), staying, most+1)
			return err
		}); err != nil {
			return false, err
		}
		if n > most {
			k.db.Logger().InfoContext(ctx, "an old partition stays: some of its rows are still in their retention", "table", t.Name, "month", m.name())
			return false, nil
		}
	}
	return true, k.run(ctx, "ALTER TABLE "+t.Name+" DETACH PARTITION "+t.of(m))
}

// dropLoose drops a detached month. Its rows that are still in their retention go to the divided
// table.
func (k Keeper) dropLoose(ctx context.Context, t Table, m month, before time.Time) error {
	statements := []string{"DROP TABLE " + t.of(m)}
	if staying := t.staying(before); staying != "" {
		statements = []string{"INSERT INTO " + t.Name + " SELECT * FROM " + t.of(m) + " WHERE " + staying, statements[0]}
	}
	return do(ctx, k.from, true, func(tx transaction) error { return all(ctx, tx, statements...) })
}
