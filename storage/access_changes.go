package storage

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/lib/pq"
	"github.com/mailhelm/mailhelm/core/access"
)

// accessChannel is where the triggers of migration 27 tell of changes.
const accessChannel = "mailhelm_access"

const (
	// The pauses between attempts to connect again, from the first to the longest.
	firstReconnect, longestReconnect = 50 * time.Millisecond, 5 * time.Second
	// probeEvery is how often a connection without messages is tried, so that one
	// that broke off silently is noticed.
	probeEvery = 20 * time.Second
)

// FollowAccessChanges calls changed, one call at a time, for every change that any
// process commits, until ctx ends. It keeps one connection of its own. When that is
// made, also again after a failure, it calls changed with [access.Anything],
// because messages may have been missed. On SQLite it returns at once: there is
// one process, which knows of its changes itself.
func (db *DB) FollowAccessChanges(ctx context.Context, changed func(access.Change)) {
	if db.engine == sqlite {
		return
	}
	listener := pq.NewListener(db.name, firstReconnect, longestReconnect, db.logListener(ctx))
	defer listener.Close() //nolint:errcheck // nothing is lost by it
	// Listen waits until there is a connection, and the listener repeats it on every
	// later one.
	listening := make(chan error, 1)
	go func() { listening <- listener.Listen(accessChannel) }()
	probe := time.NewTicker(probeEvery)
	defer probe.Stop()
	var probing atomic.Bool
	for {
		select {
		case <-ctx.Done():
			return
		case err := <-listening:
			if err == nil {
				changed(access.Change{Kind: access.Anything})
			} else if ctx.Err() == nil { // such as on a server that is read-only; a lost connection is no error here
				db.logger.LogAttrs(ctx, slog.LevelWarn, "revocations by other processes take up to five seconds: the database refuses to notify of them",
					slog.Any("error", err))
			}
		case message, open := <-listener.Notify:
			switch {
			case !open:
				return
			case message == nil: // connected again
				changed(access.Change{Kind: access.Anything})
			default:
				changed(access.ParseChange(message.Extra))
			}
		case <-probe.C:
			if probing.CompareAndSwap(false, true) { // one that hangs is not joined by more
				go func() {
					defer probing.Store(false)
					_ = listener.Ping() // a failure makes the listener connect again
				}()
			}
		}
	}
}

// logListener reports once that the connection failed, and once that it is back.
func (db *DB) logListener(ctx context.Context) pq.EventCallbackType {
	failed := false // the listener calls from one goroutine
	return func(event pq.ListenerEventType, err error) {
		connected := event == pq.ListenerEventConnected || event == pq.ListenerEventReconnected
		switch {
		case ctx.Err() != nil:
		case !connected && !failed:
			failed = true
			db.logger.LogAttrs(ctx, slog.LevelWarn, "revocations by other processes take up to five seconds: the connection that tells of them failed",
				slog.Any("error", err))
		case connected && failed:
			failed = false
			db.logger.LogAttrs(ctx, slog.LevelInfo, "revocations by other processes are told again")
		}
	}
}
