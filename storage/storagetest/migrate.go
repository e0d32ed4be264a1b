package storagetest

import (
	"context"
	"errors"
	"log/slog"

	"github.com/mailhelm/mailhelm/storage"
)

// migrate applies all migrations to a new database and closes it. Closing an SQLite
// database moves all data into the database file.
func migrate(c storage.Config) error {
	ctx := context.Background()
	c.Logger = slog.New(slog.DiscardHandler)
	db, err := storage.Open(ctx, c)
	if err != nil {
		return err
	}
	return errors.Join(db.Migrate(ctx), db.Close())
}
