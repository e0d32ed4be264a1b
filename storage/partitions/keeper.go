package partitions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/storage/engine"
)

// Keeper makes and removes the partitions of a database.
type Keeper struct {
	db   *engine.DB
	from opener
	// mostMoved is the constant of this name, except in tests.
	mostMoved int
}

// New returns the Keeper of a database.
func New(db *engine.DB) Keeper { return Keeper{db, database{db}, mostMoved} }

// longestRetention is the longest retention of any organization in days, also of those that are
// being imported or erased.
var longestRetention = engine.Register("longest retention of organizations", `SELECT coalesce(max(retention_days), 0) FROM orgs`)

// LongestRetention returns the longest retention of any organization in days.
func (k Keeper) LongestRetention(ctx context.Context) (int, error) {
	longest, err := engine.Values[int](ctx, k.db, longestRetention)
	if err != nil {
		return 0, err
	}
	return longest[0], nil
}

// divides reports whether the database can divide tables.
func (k Keeper) divides() bool { return k.db.Dialect() == engine.PostgreSQL }

// named returns the table with a name.
func named(name string) (Table, error) {
	for _, t := range Tables() {
		if t.Name == name {
			return t, nil
		}
	}
	return Table{}, fmt.Errorf("storage: no table %s is divided", name)
}

// TableNames returns the names of the tables that this database divides.
func (k Keeper) TableNames() []string {
	if !k.divides() {
		return nil
	}
	var names []string
	for _, t := range Tables() {
		names = append(names, t.Name)
	}
	return names
}

// Setup divides the tables that have no rows, as in a new installation. Other tables stay as they
// are; see [Keeper.Move]. Several processes may call it at once.
func (k Keeper) Setup(ctx context.Context, now time.Time) error {
	if !k.divides() {
		return nil
	}
	for _, t := range Tables() {
		if err := k.setUp(ctx, t, monthOf(now).next()); err != nil {
			return fmt.Errorf("storage: divide %s: %w", t.Name, err)
		}
	}
	return nil
}

func (k Keeper) setUp(ctx context.Context, t Table, from month) error {
	wanted := false
	if err := do(ctx, k.from, false, func(tx transaction) (err error) {
		wanted, _, err = isEmptyTable(ctx, tx, t)
		return err
	}); err != nil || !wanted {
		return err
	}
	err := do(ctx, k.from, true, func(tx transaction) error {
		if err := all(ctx, tx, "LOCK TABLE "+t.Name+" IN ACCESS EXCLUSIVE MODE"); err != nil {
			return err
		}
		wanted, s, err := isEmptyTable(ctx, tx, t)
		if err != nil || !wanted {
			return err
		}
		return divide(ctx, tx, t, shape{key: s.key}, from)
	})
	if errors.Is(err, ErrBusy) {
		return nil // another process does the same, or the job will
	}
	return err
}

// isEmptyTable reports whether the table is not divided and has no rows. It returns its shape.
func isEmptyTable(ctx context.Context, tx transaction, t Table) (bool, shape, error) {
	s, err := read(ctx, tx, t)
	if err != nil || s.divided || s.moving != (month{}) {
		return false, s, err
	}
	some, err := tx.rows(ctx, "SELECT '', '' FROM "+t.Name+" LIMIT 1")
	return len(some) == 0, s, err
}
