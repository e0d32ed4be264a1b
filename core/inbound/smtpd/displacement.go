package smtpd

import (
	"errors"
	"net"
	"time"
)

// The limits of connections that may be displaced. They apply only while a client waits for a
// place.
const (
	// silentFor is how long a client without a message in transfer may wait with its next command,
	// or with reading a reply.
	silentFor = 5 * time.Second
	// unproductiveFor is how long a client without a message in transfer may go on without an
	// accepted message, whatever it sends.
	unproductiveFor = time.Minute
	// slowAfter is how long the server waits for the bytes of a message before it judges their
	// rate, and slowRate is that rate in bytes for each second of waiting.
	slowAfter = 30 * time.Second
	slowRate  = 500
	// displacedTimeout is for writing the last reply to a displaced client.
	displacedTimeout = time.Second
	// displaceEvery is how often the server looks for a connection to displace.
	displaceEvery = 500 * time.Millisecond
)

// errDisplaced means that the connection was displaced.
var errDisplaced = errors.New("smtpd: the place is needed for another connection")

// course is what a wire knows about the progress of its client.
type course struct {
	// progress is when the latest message was accepted; before the first, when the client
	// connected.
	progress time.Time
	// delivers is true after the first accepted message.
	delivers bool
	// since is when the server began to wait for bytes of the client, or for it to read a reply.
	// It is zero while the server works.
	since time.Time
	// asked is when the server began to wait for the present command.
	asked time.Time
	// waited and got are the time that the server has waited for the bytes of the present
	// message, and their number.
	waited time.Duration
	got    int64
	// displaced is true from the time when the session must end.
	displaced bool
}

// isDisplaceable reports whether the client may lose its place. transfer says that it has a
// message in transfer.
func (c course) isDisplaceable(transfer bool, now time.Time) bool {
	waits := !c.since.IsZero()
	if !transfer {
		return waits && now.Sub(c.asked) >= silentFor || now.Sub(c.progress) >= unproductiveFor
	}
	waited := c.waited
	if waits {
		waited += now.Sub(c.since)
	}
	return waited >= slowAfter && float64(c.got) < slowRate*waited.Seconds()
}

// noteProgress notes that a message was accepted.
func (w *wire) noteProgress(at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.course.progress, w.course.delivers = at, true
}

// await begins a wait for something else than a command. The caller must call arrived afterwards.
// It fails with errDisplaced if the client is displaced already.
func (w *wire) await() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.course.displaced {
		return errDisplaced
	}
	w.course.since = now()
	w.course.asked = w.course.since
	return nil
}

// arrived ends a wait for the client, with the number of bytes that it sent.
func (w *wire) arrived(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.course.waited += now().Sub(w.course.since)
	w.course.got += int64(n)
	w.course.since = time.Time{}
}

// displaceable returns the course of a client, and whether it may lose its place.
func (w *wire) displaceable(now time.Time) (c course, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.course, !w.course.displaced && w.course.isDisplaceable(!w.idle, now)
}

// isBefore reports whether the client of c loses its place before that of other.
func (c course) isBefore(other course) bool {
	if c.delivers != other.delivers {
		return other.delivers
	}
	return c.progress.Before(other.progress)
}

// displace makes the session end with errDisplaced when it next waits for the client, or at once
// if it waits now. It does nothing, and returns false, if the client has made progress since it
// was chosen.
func (w *wire) displace(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.course.displaced || !w.course.isDisplaceable(!w.idle, now) {
		return false
	}
	w.course.displaced = true
	if !w.course.since.IsZero() {
		_ = w.conn.SetDeadline(time.Unix(1, 0))
	}
	return true
}

// isDisplaced reports whether the session must end for another one.
func (w *wire) isDisplaced() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.course.displaced
}

// enter waits for a place for a new connection. While none is free, it displaces others. It
// returns false if the server stops before.
func (s *Server) enter() bool {
	select {
	case s.places <- struct{}{}:
		return true
	default:
	}
	again := time.NewTicker(displaceEvery)
	defer again.Stop()
	for {
		s.displaceOne(now())
		select {
		case s.places <- struct{}{}:
			return true
		case <-s.done:
			return false
		case <-again.C:
		}
	}
}

// displaceOne displaces one of the connections that may be displaced: one that never delivered
// a message if there is one, and of several the one without progress for the longest time.
func (s *Server) displaceOne(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var worst *session
	var least course
	for one := range s.sessions {
		if c, ok := one.wire.displaceable(now); ok && (worst == nil || c.isBefore(least)) {
			worst, least = one, c
		}
	}
	if worst != nil && worst.wire.displace(now) {
		s.cfg.Count(Connection, Displaced)
	}
}

// admit starts the session of a new connection when it has a place.
func (s *Server) admit(conn net.Conn) {
	if !s.enter() {
		_ = conn.Close()
		return
	}
	s.start(conn)
}
