package guardrails

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// Rate is the state of a caller's rate limit, as the rate headers of a response show it.
// Times are whole seconds, rounded up.
type Rate struct {
	Limit     int // calls in any 60 seconds
	Remaining int
	// Reset is the time until no call counts against the limit any more, if there are no
	// further calls.
	Reset time.Duration
	// RetryAfter is the time after which a refused call would be admitted. It is 0 if the
	// call was admitted.
	RetryAfter time.Duration
	// reset and retry are Reset and RetryAfter, not rounded.
	reset, retry time.Duration
}

// NewRate returns a Rate with reset and retry rounded up to whole seconds, and with 0
// instead of a negative remaining.
func NewRate(limit, remaining int, reset, retry time.Duration) Rate {
	return Rate{Limit: limit, Remaining: max(0, remaining), Reset: ceilSeconds(reset), RetryAfter: ceilSeconds(retry), reset: reset, retry: retry}
}

func ceilSeconds(d time.Duration) time.Duration {
	return (max(0, d) + time.Second - 1).Truncate(time.Second)
}

// Buckets keeps a token bucket for each caller that has a rate limit; a call takes one
// token. A token returns to the bucket 60 seconds after it was taken. So in any 60 seconds,
// at most as many tokens can be taken as the limit allows.
type Buckets interface {
	// Take takes the number of tokens in cost from a bucket, or none if fewer are left. It
	// returns the state of the bucket and whether the tokens were taken. limit and cost are
	// at least 1. If the limit changes, the bucket starts full. An error means that the
	// bucket store failed, not that the limit is used up.
	Take(ctx context.Context, key BucketKey, limit, cost int) (Rate, bool, error)
}

// BucketKey identifies a token bucket. On the public API, all live credentials of an
// organization share one bucket, and all test credentials another. On the agent endpoint,
// each client has a bucket of its own.
type BucketKey struct {
	Resource    access.Resource
	OrgID       string
	Environment core.Environment
	// CredentialID is "" if all credentials of the organization share the bucket.
	CredentialID string
}

func bucketKey(p core.Principal, resource access.Resource) BucketKey {
	key := BucketKey{Resource: resource, OrgID: p.Org.ID, Environment: p.Credential.Environment}
	if resource == access.Agent {
		key.CredentialID = p.Credential.ID
	}
	return key
}

// limit takes one token from the caller's bucket and returns the state of the bucket. It
// returns nil, nil if the principal has no rate limit. If no token is left, it fails with
// core.CodeRateLimited and returns the state as well.
func (g *Guard) limit(ctx context.Context, p core.Principal, resource access.Resource) (*Rate, error) {
	limit := p.RateLimit()
	if limit == nil {
		return nil, nil
	}
	state, admitted, err := g.buckets.Take(ctx, bucketKey(p, resource), max(1, *limit), 1)
	switch {
	case err != nil:
		return nil, core.Internal(err)
	case admitted:
		return &state, nil
	}
	return &state, &core.Error{
		Code: core.CodeRateLimited, RetryAfter: state.RetryAfter,
		Message: "The rate limit of this organization's credentials is used up.",
	}
}
