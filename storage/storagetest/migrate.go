package storagetest

import (
	"context"
	"errors"
	"log/slog"

	"github.com/mailhelm/mailhelm/storage"
)

// migrate brings a new database to the whole schema and closes it, which leaves
// everything in the file of a SQLite database.
func migrate(c storage.Config) error {
	ctx := context.Background()
	c.Logger = slog.New(slog.DiscardHandler)
	db, err := storage.Open(ctx, c)
	if err != nil {
		return err
	}
	return errors.Join(db.Migrate(ctx), db.Close())
}
