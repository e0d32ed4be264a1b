package scanning

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

const (
	// maxFailures is the number of scans that fail in a row before the scanner must answer a
	// ping.
	maxFailures = 3
	pingTimeout = 2 * time.Second
	// pause is the time between two pings of a scanner that does not answer.
	pause = 5 * time.Second
)

// circuit knows whether a scanner answers. After maxFailures it asks by a ping. If the ping
// fails too, the scanner is down: one scan in each pause pings it again, the others fail.
type circuit struct {
	ping  func(ctx context.Context) error
	clock core.Clock
	log   *slog.Logger

	mu       sync.Mutex
	failures int // in a row, since the last scan or ping that succeeded
	down     bool
	askAt    time.Time     // when down: the time of the next ping
	pinging  chan struct{} // closed when the ping ends; nil if there is none
}

// admit returns nil if a scan may start, and otherwise ErrPaused or the end of ctx. It waits
// for a ping unless the scanner is known to be down.
func (c *circuit) admit(ctx context.Context) error {
	for {
		wait, mine, err := c.enter()
		if err != nil {
			return err
		}
		if mine {
			return c.probe(ctx)
		}
		if wait == nil {
			return nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return ended(ctx)
		}
	}
}

// enter returns what a scan must do first: wait for the ping of another scan, or make the
// ping itself if mine is true.
func (c *circuit) enter() (wait <-chan struct{}, mine bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.down && c.failures < maxFailures:
		return nil, false, nil
	case c.down && (c.pinging != nil || c.clock().Before(c.askAt)):
		return nil, false, ErrPaused
	case c.pinging != nil:
		return c.pinging, false, nil
	}
	c.pinging = make(chan struct{})
	return nil, true, nil
}

// probe pings the scanner and returns whether a scan may start.
func (c *circuit) probe(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	err := c.ping(bounded)
	c.mu.Lock()
	close(c.pinging)
	c.pinging = nil
	if err != nil && ctx.Err() != nil {
		c.mu.Unlock()
		return ended(ctx) // too little time was left for the ping, so nothing is known
	}
	if err != nil {
		first := !c.down
		c.down, c.askAt = true, c.clock().Add(pause)
		c.mu.Unlock()
		if first {
			c.log.WarnContext(ctx, "messages are not scanned: the scanner does not answer", "error", err)
		}
		return fmt.Errorf("%w: %w", ErrPaused, err)
	}
	c.mu.Unlock()
	c.noteAnswer(ctx)
	return nil
}

// noteAnswer records that the scanner answers.
func (c *circuit) noteAnswer(ctx context.Context) {
	c.mu.Lock()
	again := c.down
	c.failures, c.down = 0, false
	c.mu.Unlock()
	if again {
		c.log.InfoContext(ctx, "messages are scanned again")
	}
}

// noteFailure counts a scan that failed. Only the first of several in a row is logged.
func (c *circuit) noteFailure(ctx context.Context, err error) {
	c.mu.Lock()
	c.failures++
	first := c.failures == 1 && !c.down
	c.mu.Unlock()
	if first {
		c.log.WarnContext(ctx, "a message could not be scanned", "error", err)
	}
}
