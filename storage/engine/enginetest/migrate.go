package enginetest

import (
	"context"
	"errors"
	"log/slog"

	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/partitions"
	_ "github.com/mailhelm/mailhelm/storage/reports" // the function report_digest, which a migration calls
)

// migrate applies all migrations to a new database, divides its large tables like
// storage.DB.Migrate, and closes it. Closing an SQLite database moves all data into the
// database file.
func migrate(c engine.Config) error {
	ctx := context.Background()
	c.Logger = slog.New(slog.DiscardHandler)
	db, err := engine.Open(ctx, c)
	if err != nil {
		return err
	}
	if err := db.Migrate(ctx); err != nil {
		return errors.Join(err, db.Close())
	}
	return errors.Join(partitions.New(db).Setup(ctx, db.Now()), db.Close())
}
