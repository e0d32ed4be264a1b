package engine

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/lib/pq"
)

const (
	// The pauses between attempts to connect again, from the first to the longest.
	firstReconnect, longestReconnect = 50 * time.Millisecond, 5 * time.Second
	// probeEvery is how often a connection without messages is tried, so that one
	// that broke off silently is noticed.
	probeEvery = 20 * time.Second
)

// Listener takes what [DB.Listen] receives. Connected, Notified and Refused are called
// one at a time from one goroutine, Failed and Restored one at a time from another.
type Listener interface {
	// Connected is called when the connection is made, also again after a failure:
	// messages may have been missed.
	Connected()
	// Notified is called for every message on the channel.
	Notified(message string)
	// Refused is called when the database refuses to notify of the channel.
	Refused(err error)
	// Failed is called once when the connection fails, Restored once when it is back.
	Failed(err error)
	Restored()
}

// Listen passes on the messages of a channel of PostgreSQL, sent by any process, until ctx
// ends. It keeps one connection of its own. On SQLite it returns at once: there is one
// process.
func (db *DB) Listen(ctx context.Context, channel string, l Listener) {
	if db.dialect == SQLite {
		return
	}
	listener := pq.NewListener(db.name, firstReconnect, longestReconnect, reportConnection(ctx, l))
	defer listener.Close() //nolint:errcheck // nothing is lost by it
	// Listen waits until there is a connection, and the listener repeats it on every
	// later one.
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
			} else if ctx.Err() == nil { // such as on a server that is read-only; a lost connection is no error here
				l.Refused(err)
			}
		case message, open := <-listener.Notify:
			switch {
			case !open:
				return
			case message == nil: // connected again
				l.Connected()
			default:
				l.Notified(message.Extra)
			}
		case <-probe.C:
			if probing.CompareAndSwap(false, true) { // at most one probe at a time
				go func() {
					defer probing.Store(false)
					_ = listener.Ping() // a failure makes the listener connect again
				}()
			}
		}
	}
}

// reportConnection reports once that the connection failed, and once that it is back.
func reportConnection(ctx context.Context, l Listener) pq.EventCallbackType {
	failed := false // the listener calls from one goroutine
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
