package ses

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"golang.org/x/time/rate"
)

// The limits of control calls, which read details of identities and configuration sets: the
// number of calls per second, and the number of calls that may be made at once. SES accepts
// only a few control calls per second.
const (
	controlRate  = 5
	controlBurst = 10
)

const (
	// rateGoodFor is how long a send rate is cached. SES changes it without notice.
	rateGoodFor = 10 * time.Minute
	// askAgainAfter is the wait after a failed read of the send rate, before the rate is
	// read again.
	askAgainAfter = 10 * time.Second
)

// pace delays calls so that they stay below a rate of recipients per second. It uses the
// system clock, not the Clock of the Config, because SES counts real time. It is safe for
// concurrent use.
type pace struct {
	limiter *rate.Limiter
	known   atomic.Bool
	// askAt is when to read the send rate again, in nanoseconds since 1970. If it is 0, the
	// next call of refresh reads the rate.
	askAt  atomic.Int64
	asking chan struct{} // used as a lock: contains a value while a goroutine reads the send rate
}

func newControlPace() *pace { return &pace{limiter: rate.NewLimiter(controlRate, controlBurst)} }

// newSendPace returns a pace for messages. It does not delay them until learn sets the
// account's send rate.
func newSendPace() *pace {
	return &pace{limiter: rate.NewLimiter(rate.Inf, 1), asking: make(chan struct{}, 1)}
}

func realTime() time.Time {
	return time.Now() //nolint:forbidigo // the provider counts real seconds, whatever time a test has
}

// learn sets the account's send rate, in recipients per second. A rate of zero or less
// means no limit.
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

// refresh calls read if the send rate is unknown or old. Only one goroutine reads the rate
// at a time. Other callers of refresh wait for that read if no rate is known, else they
// return at once and use the old rate. For the time askAgainAfter after a failed read,
// refresh does nothing, so that callers do not wait.
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
	if !p.isStale() { // another goroutine read the rate while this goroutine waited
		return
	}
	if perSecond, err := read(); err == nil {
		p.learn(perSecond)
	} else if ctx.Err() == nil {
		p.askAt.Store(realTime().Add(askAgainAfter).UnixNano())
	}
}

func (p *pace) isStale() bool { return realTime().UnixNano() >= p.askAt.Load() }

// wait waits until the rate allows n recipients. If the wait would last longer than the
// deadline of ctx allows, it fails at once with Throttled. If n is more than the rate
// allows in one second, the call waits for only as many recipients as one second allows.
// The remaining recipients make later calls wait longer. SES may throttle some recipients
// of such a large call; its response has a status for each recipient.
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
	err := core.Sleep(ctx, delay)
	if err != nil {
		turn.Cancel()
	}
	return err
}
