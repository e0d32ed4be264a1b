package guardrails

import (
	"math"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"golang.org/x/time/rate"
)

// Rate is the state of a caller's bucket, as the rate headers tell it.
type Rate struct {
	Limit     int // calls a minute
	Remaining int
	// Reset is how long until the bucket is full again, in whole seconds.
	Reset time.Duration
}

// limiter holds one token bucket for each caller that has a limit: it fills
// evenly over a minute and holds one minute's worth, so any 60 seconds admit at
// most the limit beyond what had been saved up.
type limiter struct {
	clock core.Clock

	mu      sync.Mutex
	buckets map[bucketKey]*bucket
	sweepAt int
}

// bucketKey: the public API counts an organization's live and test credentials
// as one each; the agent endpoint counts each client on its own.
type bucketKey struct {
	resource    access.Resource
	org         string
	environment core.Environment
	credential  string
}

type bucket struct {
	limit  int
	tokens *rate.Limiter
}

const firstSweep = 4096

func newLimiter(clock core.Clock) *limiter {
	return &limiter{clock: clock, buckets: map[bucketKey]*bucket{}, sweepAt: firstSweep}
}

// take takes one token. It returns nil, nil for a principal without a limit, and
// the bucket's state with rate_limited when there is no token left.
func (l *limiter) take(p core.Principal, resource access.Resource) (*Rate, error) {
	limit := p.RateLimit()
	if limit == nil {
		return nil, nil
	}
	key := bucketKey{resource: resource, org: p.Org.ID, environment: p.Credential.Environment}
	if resource == access.Agent {
		key.credential = p.Credential.ID
	}
	now := l.clock()
	b := l.bucket(key, max(1, *limit), now)
	admitted := b.tokens.AllowN(now, 1)
	state := b.state(now)
	if admitted {
		return &state, nil
	}
	return &state, &core.Error{
		Code: core.CodeRateLimited, RetryAfter: state.Reset,
		Message: "The rate limit of this organization's credentials is used up.",
	}
}

// bucket finds or makes the bucket. One whose limit was changed starts afresh.
func (l *limiter) bucket(key bucketKey, limit int, now time.Time) *bucket {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b, ok := l.buckets[key]; ok && b.limit == limit {
		return b
	}
	if len(l.buckets) >= l.sweepAt {
		l.sweep(now)
	}
	b := &bucket{limit: limit, tokens: rate.NewLimiter(rate.Limit(float64(limit)/60), limit)}
	l.buckets[key] = b
	return b
}

// sweep drops full buckets: a new one would be the same.
func (l *limiter) sweep(now time.Time) {
	for key, b := range l.buckets {
		if b.tokens.TokensAt(now) >= float64(b.limit) {
			delete(l.buckets, key)
		}
	}
	l.sweepAt = max(firstSweep, 2*len(l.buckets))
}

func (b *bucket) state(now time.Time) Rate {
	tokens := b.tokens.TokensAt(now)
	missing := float64(b.limit) - tokens
	seconds := math.Ceil(missing / float64(b.limit) * 60)
	return Rate{
		Limit:     b.limit,
		Remaining: max(0, int(tokens)),
		Reset:     time.Duration(seconds) * time.Second,
	}
}
