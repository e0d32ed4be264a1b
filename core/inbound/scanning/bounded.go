package scanning

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
)

// The defaults of a [Config].
const (
	DefaultTimeout  = 15 * time.Second
	DefaultInFlight = 8
)

// The errors of a [Bounded] scanner, in addition to those of its client.
var (
	// ErrTimeout means that the scanner did not answer in time.
	ErrTimeout = errors.New("the scanner did not answer in time")
	// ErrBusy means that other scans used up the time of this scan.
	ErrBusy = errors.New("too many scans run, and none ended in time")
	// ErrPaused means that the scanner does not answer, and was not tried again.
	ErrPaused = errors.New("the scanner does not answer, and is tried again later")
	// ErrSize means that the message does not have the stated size.
	ErrSize = errors.New("the message does not have the stated size")
)

// errGone means that the caller ended the scan. errUnreadable means that the message could
// not be read.
var (
	errGone       = fmt.Errorf("the caller ended the scan: %w", context.Canceled)
	errUnreadable = errors.New("read the message")
)

// Client speaks the protocol of a scanner. Its methods return when ctx ends, and bound the
// size of answers.
type Client interface {
	inbound.Scanner
	// Ping returns nil if the scanner answers.
	Ping(ctx context.Context) error
}

// Config configures a [Bounded] scanner. Only Name is required.
type Config struct {
	// Name is the scanner's name in metrics and in the log.
	Name string
	// Timeout limits a scan, including the wait for other scans. Zero means [DefaultTimeout].
	Timeout time.Duration
	// InFlight limits the number of concurrent scans. Zero means [DefaultInFlight].
	InFlight int
	Clock    core.Clock
	Log      *slog.Logger
	// Metrics may be shared by several scanners. nil means that scans are not counted.
	Metrics *Metrics
}

// Bounded is a scanner with limits. It is safe for use by several goroutines.
type Bounded struct {
	client  Client
	name    string
	timeout time.Duration
	slots   chan struct{}
	circuit circuit
	clock   core.Clock
	metrics *Metrics
}

var _ inbound.Scanner = (*Bounded)(nil)

// Bound returns a scanner that uses the client within limits.
func Bound(client Client, cfg Config) *Bounded {
	clock, log := cfg.Clock, cfg.Log
	if clock == nil {
		clock = core.SystemClock
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	cfg.Metrics.show(cfg.Name)
	return &Bounded{
		client: client, name: cfg.Name,
		timeout: cmp.Or(cfg.Timeout, DefaultTimeout),
		slots:   make(chan struct{}, cmp.Or(cfg.InFlight, DefaultInFlight)),
		circuit: circuit{ping: client.Ping, clock: clock, log: log.With("scanner", cfg.Name)},
		clock:   clock, metrics: cfg.Metrics,
	}
}

// Scan implements [inbound.Scanner]. It returns within the time of [Config.Timeout], provided
// that raw does not block. It does not read raw after it returned.
func (b *Bounded) Scan(ctx context.Context, e inbound.Envelope, raw io.Reader, size int64) (inbound.Finding, error) {
	began := b.clock()
	bounded, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	finding, err := b.scan(bounded, e, raw, size)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		err = errGone
	}
	b.metrics.count(b.name, outcomeOf(finding, err), b.clock().Sub(began))
	if err != nil {
		return inbound.Finding{}, fmt.Errorf("%s: %w", b.name, err)
	}
	return finding, nil
}

// scan waits for a slot, then passes the message to the client.
func (b *Bounded) scan(ctx context.Context, e inbound.Envelope, raw io.Reader, size int64) (inbound.Finding, error) {
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	case <-ctx.Done():
		return inbound.Finding{}, ErrBusy
	}
	if err := b.circuit.admit(ctx); err != nil {
		return inbound.Finding{}, err
	}
	from := &source{from: raw, left: size}
	finding, err := b.client.Scan(ctx, e, from, size)
	unread := from.stop()
	switch {
	case unread != nil:
		err = unread // not a failure of the scanner
	case err == nil, errors.Is(err, inbound.ErrTooLarge):
		b.circuit.noteAnswer(ctx)
	case ctx.Err() != nil:
		if err = ended(ctx); errors.Is(err, ErrTimeout) {
			b.circuit.noteFailure(ctx, err)
		}
	default:
		b.circuit.noteFailure(ctx, err)
	}
	return finding, err
}

// ended returns why ctx ended: the scan took too long, or the caller has gone.
func ended(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ErrTimeout
	}
	return errGone
}
