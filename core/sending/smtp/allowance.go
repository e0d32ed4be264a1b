package smtp

import (
	"errors"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Recipients are counted in periods of ten minutes. So a message may count against the
// daily quota for up to ten minutes longer than 24 hours.
const (
	countStep  = 10 * time.Minute
	countSteps = int64(24*time.Hour/countStep) + 1
)

// allowance enforces the configured daily quota and send rate of an organization. Its
// counts are in memory and start at zero. It is safe for concurrent use.
type allowance struct {
	mu      sync.Mutex
	counts  [countSteps]struct{ step, sent int64 }
	limiter *rate.Limiter
}

var (
	errRate  = errors.New("smtp: the configured rate is used up")
	errQuota = errors.New("smtp: the configured quota of 24 hours is used up")
)

// take counts a message with this number of recipients. It fails with Throttled if the
// daily quota or the rate is used up. giveBack subtracts the recipients from the quota;
// call it only if the message was certainly not sent.
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

// add adds recipients to the count of a period of ten minutes; step is the number of the
// period since 1970. It does nothing if a later period already uses the same counter.
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
