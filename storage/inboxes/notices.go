package inboxes

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/groupcommit"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// noticesChannel is the PostgreSQL NOTIFY channel for changed inboxes.
const noticesChannel = "mailhelm_inboxes"

const (
	// maxNotices is the largest number of notices that are sent together.
	maxNotices = 256
	// noticeTime bounds the sending of notices.
	noticeTime = 5 * time.Second
)

// announceInboxes notifies after the commit and not in the transaction of the messages, because
// PostgreSQL commits transactions with notices one after the other. For the same reason it does
// not wait for the disk: a notice has no use after a crash.
var announceInboxes = engine.Register("announce inboxes", `
	SELECT j.atom FROM json_each(CAST($1 AS text)) AS j
		/*pg CROSS JOIN set_config('synchronous_commit', 'off', TRUE) CROSS JOIN LATERAL pg_notify('`+noticesChannel+`', j.atom)*/`)

// Notices passes the ids of changed inboxes between the processes on a database. It is safe for
// concurrent use.
type Notices struct {
	db *engine.DB
	// sending sends the notices of concurrent calls together.
	sending *groupcommit.Group[string]
}

var _ inboxes.Announcer = Notices{}

// NewNotices returns the notices of the database.
func NewNotices(db *engine.DB) Notices {
	send := func(ctx context.Context, inboxIDs []string) error {
		slices.Sort(inboxIDs)
		ids, err := engine.JSONParameter(slices.Compact(inboxIDs))
		if err != nil {
			return err
		}
		_, err = engine.Values[string](ctx, db, announceInboxes, ids)
		return err
	}
	return Notices{db, groupcommit.New(groupcommit.Config[string]{Commit: send, Max: maxNotices, Timeout: noticeTime})}
}

// Announce tells all processes that an inbox has changed. On SQLite there is only one.
func (n Notices) Announce(ctx context.Context, inboxID string) error {
	if n.db.Dialect() == engine.SQLite {
		return nil
	}
	return n.sending.Do(ctx, inboxID)
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
