package ses

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
	"golang.org/x/time/rate"
)

// The provider takes a few control calls a second. What is still too fast for it is tried
// once more.
const (
	controlRate  = 5
	controlBurst = 10
)

const (
	// rateGoodFor is how long a send rate is taken to be the account's: the provider
	// raises and lowers it by itself.
	rateGoodFor = 10 * time.Minute
	// askAgainAfter is when a rate that could not be read is asked for again.
	askAgainAfter = 10 * time.Second
)

// pace keeps calls below a rate. It goes by the system's clock, as the provider
// does. It is safe for concurrent use.
type pace struct {
	limiter *rate.Limiter
	known   atomic.Bool
	// askAt is when the rate is to be read again, in nanoseconds; 0 is at once.
	askAt  atomic.Int64
	asking chan struct{} // holds a value while somebody reads the rate
}

func newControlPace() *pace { return &pace{limiter: rate.NewLimiter(controlRate, controlBurst)} }

// newSendPace holds nobody back until the account's rate is known.
func newSendPace() *pace {
	return &pace{limiter: rate.NewLimiter(rate.Inf, 1), asking: make(chan struct{}, 1)}
}

func realTime() time.Time {
	return time.Now() //nolint:forbidigo // the provider counts real seconds, whatever time a test has
}

// learn takes the account's rate in recipients a second. An account that names
// none is not paced.
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

// refresh reads the rate when it is unknown or old. As long as nobody knows it,
// all wait for the one who asks; later they go by the old one meanwhile. A rate
// that cannot be read holds nobody back for longer.
func (p *pace) refresh(ctx context.Context, read func() (float64, error)) {
	if !p.stale() {
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
	if !p.stale() { // somebody else asked meanwhile
		return
	}
	if perSecond, err := read(); err == nil {
		p.learn(perSecond)
	} else if ctx.Err() == nil {
		p.askAt.Store(realTime().Add(askAgainAfter).UnixNano())
	}
}

func (p *pace) stale() bool { return realTime().UnixNano() >= p.askAt.Load() }

// wait waits for the turn of n recipients. When that would be after the deadline
// of ctx it fails at once with Throttled, and nothing was done. More than go out
// in a second are let through together and those who come next wait for them:
// the provider throttles recipients one by one, and the caller hears which.
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
