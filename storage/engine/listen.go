package engine

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/lib/pq"
)

const (
	// firstReconnect and longestReconnect bound the growing pauses between attempts to
	// reconnect.
	firstReconnect, longestReconnect = 50 * time.Millisecond, 5 * time.Second
	// probeEvery is the interval of probes on a connection without messages. They detect
	// a connection that broke off silently.
	probeEvery = 20 * time.Second
)

// Listener receives the events of [DB.Listen]. Connected, Notified and Refused are called
// one at a time from one goroutine, Failed and Restored one at a time from another.
type Listener interface {
	// Connected is called after each connection, the first and every later one. After a
	// reconnection, messages may have been missed.
	Connected()
	// Notified is called for every message on the channel.
	Notified(message string)
	// Refused is called when the database refuses to listen on the channel.
	Refused(err error)
	// Failed is called once when the connection fails; Restored once when it is restored.
	Failed(err error)
	Restored()
}

// Listen passes the messages of a PostgreSQL channel to l until ctx ends. Any process may
// send them. It uses one connection of its own. On SQLite it returns at once, because
// there is one process.
func (db *DB) Listen(ctx context.Context, channel string, l Listener) {
	if db.dialect == SQLite {
		return
	}
	listener := pq.NewListener(db.name, firstReconnect, longestReconnect, reportConnection(ctx, l))
	defer listener.Close() //nolint:errcheck // nothing is lost by it
	// Listen waits until there is a connection. The listener repeats it on every later
	// connection.
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
			} else if ctx.Err() == nil { // for example on a read-only server; a lost connection is no error here
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
			if probing.CompareAndSwap(false, true) { // at most one probe at a time
				go func() {
					defer probing.Store(false)
					_ = listener.Ping() // a failure makes the listener connect again
				}()
			}
		}
	}
}

// reportConnection returns a callback that calls l.Failed once when the connection fails
// and l.Restored once when it is back.
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
