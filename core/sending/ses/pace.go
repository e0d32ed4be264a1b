package ses

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
	"golang.org/x/time/rate"
)

// The provider accepts a few control calls per second. A call that it throttles is
// retried once.
const (
	controlRate  = 5
	controlBurst = 10
)

const (
	// rateGoodFor is how long a send rate is cached. The provider changes it without
	// notice.
	rateGoodFor = 10 * time.Minute
	// askAgainAfter is the wait after a failed read of the rate.
	askAgainAfter = 10 * time.Second
)

// pace keeps calls below a rate. It uses the system clock, because the provider counts
// real time. It is safe for concurrent use.
type pace struct {
	limiter *rate.Limiter
	known   atomic.Bool
	// askAt is when to read the rate again, in nanoseconds since 1970; 0 means at once.
	askAt  atomic.Int64
	asking chan struct{} // holds a value while a goroutine reads the rate
}

func newControlPace() *pace { return &pace{limiter: rate.NewLimiter(controlRate, controlBurst)} }

// newSendPace returns a pace that does not delay calls until the account's rate is
// known.
func newSendPace() *pace {
	return &pace{limiter: rate.NewLimiter(rate.Inf, 1), asking: make(chan struct{}, 1)}
}

func realTime() time.Time {
	return time.Now() //nolint:forbidigo // the provider counts real seconds, whatever time a test has
}

// learn sets the account's rate in recipients per second. A rate of zero or less
// disables pacing.
func (p *pace) learn(perSecond float64) {
	p.known.Store(true)
	p.askAt.Store(realTime().Add(rateGoodFor).UnixNano())
	if perSecond <= 0 {
		p.limiter.SetLimit(rate.Inf)
		return
	}
	p.limiter.SetLimit(rate.Limit(perSecond))
	p.limiter.SetBurst(max(1, int(perSecond)))
}

// refresh reads the rate when it is unknown or old. One goroutine reads at a time.
// Others wait while the rate is unknown, and use the old rate otherwise. After a failed
// read, calls continue without waiting for the rate.
func (p *pace) refresh(ctx context.Context, read func() (float64, error)) {
	if !p.isStale() {
		return
	}
	if p.known.Load() {
		select {
		case p.asking <- struct{}{}:
		default:
			return
		}
	} else {
		select {
		case p.asking <- struct{}{}:
		case <-ctx.Done():
			return
		}
	}
	defer func() { <-p.asking }()
	if !p.isStale() { // another goroutine read it in between
		return
	}
	if perSecond, err := read(); err == nil {
		p.learn(perSecond)
	} else if ctx.Err() == nil {
		p.askAt.Store(realTime().Add(askAgainAfter).UnixNano())
	}
}

func (p *pace) isStale() bool { return realTime().UnixNano() >= p.askAt.Load() }

// wait waits until n recipients may be sent to. It fails at once with Throttled when
// that time is after the deadline of ctx; nothing is reserved then. A call with more
// recipients than one second allows goes out as a whole, and later calls wait longer.
// The provider throttles single recipients of such a call and reports each.
func (p *pace) wait(ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	now := realTime()
	first := min(n, p.limiter.Burst())
	turn := p.limiter.ReserveN(now, first)
	delay := turn.DelayFrom(now)
	if deadline, ok := ctx.Deadline(); ok && delay > 0 && delay > deadline.Sub(now) {
		turn.CancelAt(now)
		return &sending.Failure{
			Kind: sending.Throttled, RetryAfter: delay,
			Err: fmt.Errorf("%d recipients have their turn in %s, after the deadline", n, delay),
		}
	}
	for rest := n - first; rest > 0; rest -= p.limiter.Burst() {
		p.limiter.ReserveN(now, min(rest, p.limiter.Burst()))
	}
	if delay <= 0 {
		return nil
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		turn.Cancel()
		return ctx.Err()
	}
}
