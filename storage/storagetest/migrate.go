package storagetest

import (
	"context"
	"errors"
	"log/slog"

	"github.com/mailhelm/mailhelm/storage"
)

// migrate brings a new database to the complete schema and closes it. For SQLite this
// leaves all data in the database file.
func migrate(c storage.Config) error {
	ctx := context.Background()
	c.Logger = slog.New(slog.DiscardHandler)
	db, err := storage.Open(ctx, c)
	if err != nil {
		return err
	}
	return errors.Join(db.Migrate(ctx), db.Close())
}
