package partitions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/retention"
)

const (
	every = time.Hour
	// timeout is the longest duration of a run. Checking the rows of a table that is being divided
	// takes minutes for hundreds of millions of rows.
	timeout = time.Hour
	// tries is how often a run tries a step whose locks other connections have, and pause the time
	// between two tries.
	tries = 5
	pause = 3 * time.Second
)

// Args is the empty argument of the job.
type Args struct{}

// Kind returns the name of the job.
func (Args) Kind() string { return "partitions_keep" }

// Store makes and removes partitions. Each method can be repeated after any error.
type Store interface {
	// TableNames returns the names of the tables that the database divides: none on SQLite.
	TableNames() []string
	// LongestRetention returns the longest retention of any organization in days.
	LongestRetention(ctx context.Context) (int, error)
	// Move divides a table, and returns true if it is divided.
	Move(ctx context.Context, table string, now time.Time) (bool, error)
	// MakeAhead makes the missing partitions of the present month and the next ones, and returns
	// their names.
	MakeAhead(ctx context.Context, table string, now time.Time) ([]string, error)
	// Drop removes the partitions whose rows are all from before a time, and returns their names.
	Drop(ctx context.Context, table string, before time.Time) ([]string, error)
}

// Config has the dependencies of the job. All fields are required.
type Config struct {
	Store Store
	// Busy is the error of a step whose locks other connections have.
	Busy  error
	Clock core.Clock
	Log   *slog.Logger
	// Sleep waits between two tries. It fails if ctx ends.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Worker returns the job that divides large tables, makes partitions for the next months and
// removes those that are older than the retention of all organizations. It may be interrupted and
// run again.
func Worker(cfg Config) jobs.Worker[Args] {
	return jobs.Worker[Args]{Every: every, Timeout: timeout, Work: func(ctx context.Context, _ Args) error {
		tables := cfg.Store.TableNames()
		if len(tables) == 0 {
			return nil
		}
		longest, err := cfg.Store.LongestRetention(ctx)
		if err != nil {
			return err
		}
		var failures error
		for _, table := range tables {
			if err := cfg.keep(ctx, table, oldest(cfg.Clock(), table, longest)); err != nil {
				failures = errors.Join(failures, fmt.Errorf("partitions of %s: %w", table, err))
			}
		}
		return failures
	}}
}

// oldest returns the time before which no row of a table is in the retention of any organization,
// or only rows that the purge has left. It is a day earlier than that of the purges, for reads that
// began before them.
func oldest(now time.Time, table string, longest int) time.Time {
	days := core.MessageDays(longest)
	if shortest, chosen := retention.ShortestFor(table); chosen {
		days = shortest // a month with rows stays
	}
	switch table {
	case "activities":
		days = core.ActivityDays(longest)
	case "domainauth_rows":
		days = domainauth.RowDays
	}
	return now.UTC().AddDate(0, 0, -days-1).Truncate(24 * time.Hour)
}

// keep makes and removes the partitions of a table.
func (cfg Config) keep(ctx context.Context, table string, before time.Time) error {
	divided := false
	if err := cfg.try(ctx, func() (err error) {
		divided, err = cfg.Store.Move(ctx, table, cfg.Clock())
		return err
	}); err != nil || !divided {
		return err
	}
	var made, dropped []string
	made, err := cfg.named(ctx, func() ([]string, error) { return cfg.Store.MakeAhead(ctx, table, cfg.Clock()) })
	if err == nil {
		dropped, err = cfg.named(ctx, func() ([]string, error) { return cfg.Store.Drop(ctx, table, before) })
	}
	if len(made)+len(dropped) > 0 {
		cfg.Log.InfoContext(ctx, "partitions changed", "table", table, "made", made, "dropped", dropped, "before", before)
	}
	return err
}

// named returns all names that the tries of a step return.
func (cfg Config) named(ctx context.Context, step func() ([]string, error)) ([]string, error) {
	var all []string
	err := cfg.try(ctx, func() error {
		names, err := step()
		all = append(all, names...)
		return err
	})
	return all, err
}

// try runs a step, and again if other connections have its locks.
func (cfg Config) try(ctx context.Context, step func() error) error {
	for attempt := 1; ; attempt++ {
		err := step()
		if attempt == tries || !errors.Is(err, cfg.Busy) {
			return err
		}
		if err := cfg.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}
