package storage

import (
	"context"
	"log/slog"

	"github.com/mailhelm/mailhelm/core/access"
)

// accessChannel is where the triggers of migration 27 tell of changes.
const accessChannel = "mailhelm_access"

// FollowAccessChanges calls changed, one call at a time, for every change that any
// process commits, until ctx ends. It keeps one connection of its own. When that is
// made, also again after a failure, it calls changed with [access.Anything],
// because messages may have been missed. On SQLite it returns at once: there is
// one process, which knows of its changes itself.
func (db *DB) FollowAccessChanges(ctx context.Context, changed func(access.Change)) {
	db.Listen(ctx, accessChannel, accessListener{ctx, db.Logger(), changed})
}

// accessListener turns messages into changes, and logs failures of the connection.
type accessListener struct {
	ctx     context.Context //nolint:containedctx // of the call that it lives for
	logger  *slog.Logger
	changed func(access.Change)
}

func (l accessListener) Connected() { l.changed(access.Change{Kind: access.Anything}) }

func (l accessListener) Notified(message string) { l.changed(access.ParseChange(message)) }

func (l accessListener) Refused(err error) {
	l.logger.LogAttrs(l.ctx, slog.LevelWarn, "revocations by other processes take up to five seconds: the database refuses to notify of them",
		slog.Any("error", err))
}

func (l accessListener) Failed(err error) {
	l.logger.LogAttrs(l.ctx, slog.LevelWarn, "revocations by other processes take up to five seconds: the connection that tells of them failed",
		slog.Any("error", err))
}

func (l accessListener) Restored() {
	l.logger.LogAttrs(l.ctx, slog.LevelInfo, "revocations by other processes are told again")
}
