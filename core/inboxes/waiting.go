package inboxes

import (
	"context"
	"log/slog"
	"sync"
)

// Waiting wakes the polls that wait for mail in an inbox. Polls read the database only before
// they wait and after they were woken. It is safe for use by several goroutines.
type Waiting struct {
	announce Announcer
	log      *slog.Logger

	mu     sync.Mutex
	closed bool
	// signals has a channel for each inbox with waiting polls. It is closed to wake them.
	signals map[string]*signal
}

type signal struct {
	woken chan struct{}
	polls int
}

// Announcer tells the other processes on the database that an inbox has changed. They call
// Waiting.Wake with its id.
type Announcer interface {
	Announce(ctx context.Context, inboxID string) error
}

// NewWaiting returns a Waiting.
func NewWaiting(announce Announcer, log *slog.Logger) *Waiting {
	return &Waiting{announce: announce, log: log, signals: map[string]*signal{}}
}

// join returns a signal whose channel is closed at the next Wake of the inbox. The caller must
// read the inbox after join, so that no message is missed, and then call leave. join returns nil
// if no poll may wait any more, because the process stops.
func (w *Waiting) join(inboxID string) *signal {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	s := w.signals[inboxID]
	if s == nil {
		s = &signal{woken: make(chan struct{})}
		w.signals[inboxID] = s
	}
	s.polls++
	return s
}

func (w *Waiting) leave(inboxID string, s *signal) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.polls--; s.polls == 0 && w.signals[inboxID] == s {
		delete(w.signals, inboxID)
	}
}

// Wake wakes the polls of this process that wait for an inbox.
func (w *Waiting) Wake(inboxID string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.signals[inboxID]; s != nil {
		close(s.woken)
		delete(w.signals, inboxID)
	}
}

// WakeAll wakes all polls of this process, because messages of other processes may have been
// missed.
func (w *Waiting) WakeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, s := range w.signals {
		close(s.woken)
		delete(w.signals, id)
	}
}

// Close wakes all polls and lets no other wait. The server calls it before it stops, so that
// polls answer at once.
func (w *Waiting) Close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.WakeAll()
}

// Announce wakes the polls of all processes that wait for an inbox. Call it after the commit
// of a change. If the announcement fails, the polls of other processes see the
// change at the end of their wait.
func (w *Waiting) Announce(ctx context.Context, inboxID string) {
	w.Wake(inboxID)
	if err := w.announce.Announce(ctx, inboxID); err != nil {
		w.log.WarnContext(ctx, "polls at other processes were not woken", "inbox_id", inboxID, "cause", err)
	}
}

// Polls returns how many polls wait in this process.
func (w *Waiting) Polls() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, s := range w.signals {
		n += s.polls
	}
	return n
}
