package smtp

import (
	"errors"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A day is counted in steps. A message may count up to one step longer than 24 hours.
const (
	countStep  = 10 * time.Minute
	countSteps = int64(24*time.Hour/countStep) + 1
)

// allowance enforces the configured quota and rate, in memory. The zero value has
// counted nothing. It is safe for concurrent use.
type allowance struct {
	mu      sync.Mutex
	counts  [countSteps]struct{ step, sent int64 }
	limiter *rate.Limiter
}

var (
	errRate  = errors.New("smtp: the configured rate is used up")
	errQuota = errors.New("smtp: the configured quota of 24 hours is used up")
)

// take reserves a message to so many recipients. It fails with Throttled when a limit
// is reached. giveBack undoes the count; call it only when the message was certainly
// not sent.
func (a *allowance) take(server Server, now time.Time, recipients int64) (giveBack func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if server.Max24HourSend > 0 && a.sum(now)+recipients > server.Max24HourSend {
		return nil, newThrottling(errQuota, a.timeToNextStep(now))
	}
	if !a.rateAllows(server.MaxSendRate, now) {
		return nil, newThrottling(errRate, time.Second)
	}
	step := stepOf(now)
	a.add(step, recipients)
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.add(step, -recipients)
	}, nil
}

func (a *allowance) rateAllows(perSecond int64, now time.Time) bool {
	if perSecond <= 0 {
		return true
	}
	if a.limiter == nil || a.limiter.Limit() != rate.Limit(perSecond) {
		a.limiter = rate.NewLimiter(rate.Limit(perSecond), int(perSecond))
	}
	return a.limiter.AllowN(now, 1)
}

func (a *allowance) lastDay(now time.Time) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sum(now)
}

func stepOf(now time.Time) int64 { return now.Unix() / int64(countStep/time.Second) }

// add counts recipients in the step, unless a later step has reused its slot.
func (a *allowance) add(step, recipients int64) {
	c := &a.counts[step%countSteps]
	if c.step < step {
		c.step, c.sent = step, 0
	}
	if c.step == step {
		c.sent += recipients
	}
}

func (a *allowance) sum(now time.Time) int64 {
	var sum int64
	for _, c := range a.counts {
		if c.step > stepOf(now)-countSteps {
			sum += c.sent
		}
	}
	return sum
}

func (a *allowance) timeToNextStep(now time.Time) time.Duration {
	return time.Unix((stepOf(now)+1)*int64(countStep/time.Second), 0).Sub(now)
}
