package inbound

import (
	"context"
	"log/slog"

	"github.com/mailhelm/mailhelm/storage/engine"
)

// noticesChannel is the PostgreSQL NOTIFY channel for accepted messages.
const noticesChannel = "mailhelm_received"

// announceReceived notifies after the commit and not in the transaction of the tasks, because
// PostgreSQL commits transactions with notices one after the other.
var announceReceived = engine.Register("announce received mail", `
	SELECT CAST($1 AS text) /*pg FROM pg_notify('`+noticesChannel+`', $1)*/`)

// Notices tells processes on a database that process received mail that there is some.
type Notices struct{ db *engine.DB }

// NewNotices returns the notices of the database.
func NewNotices(db *engine.DB) Notices { return Notices{db} }

// Announce tells all processes that Follow that messages were accepted. On SQLite there is only
// one process, so it does nothing.
func (n Notices) Announce(ctx context.Context) error {
	if n.db.Dialect() == engine.SQLite {
		return nil
	}
	_, err := engine.Values[string](ctx, n.db, announceReceived, "")
	return err
}

// Follow calls wake for each notice until ctx ends. On SQLite it returns at once. It uses one
// database connection of its own. After a reconnection it calls wake too, because notices may
// have been missed.
func (n Notices) Follow(ctx context.Context, wake func()) {
	n.db.Listen(ctx, noticesChannel, noticeListener{ctx, n.db.Logger(), wake})
}

// noticeListener wakes the processing, and logs failures of the connection.
type noticeListener struct {
	ctx    context.Context //nolint:containedctx // of the call that it lives for
	logger *slog.Logger
	wake   func()
}

func (l noticeListener) Connected() { l.wake() }

func (l noticeListener) Notified(string) { l.wake() }

func (l noticeListener) Refused(err error) {
	l.logger.LogAttrs(l.ctx, slog.LevelWarn, "mail that another process accepted is processed up to a second later: the database refuses notifications", slog.Any("error", err))
}

func (l noticeListener) Failed(err error) {
	l.logger.LogAttrs(l.ctx, slog.LevelWarn, "mail that another process accepted is processed up to a second later: the connection for notifications failed", slog.Any("error", err))
}

func (l noticeListener) Restored() {
	l.logger.LogAttrs(l.ctx, slog.LevelInfo, "this process is notified of mail that other processes accept")
}
