package inboxes

import (
	"context"
	"log/slog"

	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// noticesChannel is the PostgreSQL NOTIFY channel for changed inboxes.
const noticesChannel = "mailhelm_inboxes"

// announceInbox notifies after the commit and not in the transaction of the message, because
// PostgreSQL commits transactions with notices one after the other.
var announceInbox = engine.Register("announce inbox", `
	SELECT CAST($1 AS text) /*pg FROM pg_notify('`+noticesChannel+`', $1)*/`)

// Notices passes the ids of changed inboxes between the processes on a database.
type Notices struct{ db *engine.DB }

var _ inboxes.Announcer = Notices{}

// NewNotices returns the notices of the database.
func NewNotices(db *engine.DB) Notices { return Notices{db} }

// Announce tells all processes that an inbox has changed. On SQLite there is only one.
func (n Notices) Announce(ctx context.Context, inboxID string) error {
	if n.db.Dialect() == engine.SQLite {
		return nil
	}
	_, err := engine.Values[string](ctx, n.db, announceInbox, inboxID)
	return err
}

// Follow wakes the polls of w for each notice until ctx ends. On SQLite it returns at once. It
// uses one database connection of its own. After a reconnection it wakes all polls, because
// notices may have been missed.
func (n Notices) Follow(ctx context.Context, w *inboxes.Waiting) {
	n.db.Listen(ctx, noticesChannel, noticeListener{ctx, n.db.Logger(), w})
}

// noticeListener wakes polls, and logs failures of the connection.
type noticeListener struct {
	ctx    context.Context //nolint:containedctx // of the call that it lives for
	logger *slog.Logger
	waking *inboxes.Waiting
}

func (l noticeListener) Connected() { l.waking.WakeAll() }

func (l noticeListener) Notified(inboxID string) { l.waking.Wake(inboxID) }

func (l noticeListener) Refused(err error) {
	l.logger.LogAttrs(l.ctx, slog.LevelWarn, "polls see mail that another process received at the end of their wait: the database refuses notifications", slog.Any("error", err))
}

func (l noticeListener) Failed(err error) {
	l.logger.LogAttrs(l.ctx, slog.LevelWarn, "polls see mail that another process received at the end of their wait: the connection for notifications failed", slog.Any("error", err))
}

func (l noticeListener) Restored() {
	l.logger.LogAttrs(l.ctx, slog.LevelInfo, "polls are notified of mail that other processes receive")
}
