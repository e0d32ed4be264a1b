package engine

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/lib/pq"
)

const (
	// firstReconnect and longestReconnect are the shortest and longest pause between
	// attempts to reconnect. The pauses grow.
	firstReconnect, longestReconnect = 50 * time.Millisecond, 5 * time.Second
	// probeEvery is the interval at which a connection without messages is tested, so that a
	// silently lost connection is detected.
	probeEvery = 20 * time.Second
)

// Listener receives the events of [DB.Listen]. One goroutine calls Connected, Notified and
// Refused, and another calls Failed and Restored. Each goroutine makes one call at a time.
type Listener interface {
	// Connected is called after the first connection and after every reconnection. After a
	// reconnection, messages may have been missed.
	Connected()
	// Notified is called for every message on the channel.
	Notified(message string)
	// Refused is called when the database refuses the LISTEN statement for the channel.
	Refused(err error)
	// Failed is called once when the connection is lost, and Restored once when it is
	// restored.
	Failed(err error)
	Restored()
}

// Listen passes the messages of a PostgreSQL NOTIFY channel to l until ctx ends. Any
// process may send messages. It uses one connection of its own, to
// [Config.DirectURL] if that is set. On SQLite it returns at
// once, because only one server process uses the database.
func (db *DB) Listen(ctx context.Context, channel string, l Listener) {
	if db.dialect == SQLite {
		return
	}
	listener := pq.NewListener(db.name, firstReconnect, longestReconnect, reportConnection(ctx, l))
	defer listener.Close() //nolint:errcheck // nothing is lost by it
	// listener.Listen blocks until the first connection succeeds. After a reconnection the
	// listener subscribes again by itself.
	listening := make(chan error, 1)
	go func() { listening <- listener.Listen(channel) }()
	probe := time.NewTicker(probeEvery)
	defer probe.Stop()
	var probing atomic.Bool
	for {
		select {
		case <-ctx.Done():
			return
		case err := <-listening:
			if err == nil {
				l.Connected()
				// the connection is open, but the server refused LISTEN, for example
				// because it is read-only
			} else if ctx.Err() == nil {
				l.Refused(err)
			}
		case message, open := <-listener.Notify:
			switch {
			case !open:
				return
			case message == nil: // the connection was restored
				l.Connected()
			default:
				l.Notified(message.Extra)
			}
		case <-probe.C:
			if probing.CompareAndSwap(false, true) { // runs at most one probe at a time
				go func() {
					defer probing.Store(false)
					_ = listener.Ping() // after a failed ping the listener reconnects by itself
				}()
			}
		}
	}
}

// reportConnection returns a callback for connection events. It calls l.Failed once when
// the connection is lost, and l.Restored once when it is restored.
func reportConnection(ctx context.Context, l Listener) pq.EventCallbackType {
	failed := false // needs no lock: all events come from one goroutine
	return func(event pq.ListenerEventType, err error) {
		connected := event == pq.ListenerEventConnected || event == pq.ListenerEventReconnected
		switch {
		case ctx.Err() != nil:
		case !connected && !failed:
			failed = true
			l.Failed(err)
		case connected && failed:
			failed = false
			l.Restored()
		}
	}
}
