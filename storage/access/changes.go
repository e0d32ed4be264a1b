package access

import (
	"context"
	"log/slog"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// FollowChanges calls the function changed for every change of credentials, grants or settings of
// organizations that any process commits. It makes one call at a time, until ctx ends. It uses one database
// connection of its own.
//
// After each connect and reconnect it calls changed with [access.Anything], because
// notifications of changes may have been missed. On SQLite it returns at once, because only
// one server process uses the database.
func FollowChanges(ctx context.Context, db *engine.DB, changed func(access.Change)) {
	db.Listen(ctx, engine.ChangesChannel, changeListener{ctx, db.Logger(), changed})
}

// changeListener converts messages of the database to access changes, and logs failures of
// the connection.
type changeListener struct {
	ctx     context.Context //nolint:containedctx // of the call that it lives for
	logger  *slog.Logger
	changed func(access.Change)
}

func (l changeListener) Connected() { l.changed(access.Change{Kind: access.Anything}) }

func (l changeListener) Notified(message string) { l.changed(access.ParseChange(message)) }

func (l changeListener) Refused(err error) {
	l.logger.LogAttrs(l.ctx, slog.LevelWarn, "revocations by other processes take up to five seconds, other changes up to a minute: the database refuses notifications",
		slog.Any("error", err))
}

func (l changeListener) Failed(err error) {
	l.logger.LogAttrs(l.ctx, slog.LevelWarn, "revocations by other processes take up to five seconds, other changes up to a minute: the connection for notifications failed",
		slog.Any("error", err))
}

func (l changeListener) Restored() {
	l.logger.LogAttrs(l.ctx, slog.LevelInfo, "changes by other processes are notified again")
}
