package guardrails

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// Rate is the state of a caller's bucket, as the rate headers show it. Times are whole
// seconds, rounded up.
type Rate struct {
	Limit     int // calls in any 60 seconds
	Remaining int
	// Reset is the time until the bucket is full again if no more tokens are taken.
	Reset time.Duration
	// RetryAfter is the time until the refused call would be admitted; 0 when the call was
	// admitted.
	RetryAfter time.Duration
}

// NewRate returns a rate with both times rounded up to whole seconds.
func NewRate(limit, remaining int, reset, retry time.Duration) Rate {
	return Rate{Limit: limit, Remaining: max(0, remaining), Reset: ceilSeconds(reset), RetryAfter: ceilSeconds(retry)}
}

func ceilSeconds(d time.Duration) time.Duration {
	return (max(0, d) + time.Second - 1).Truncate(time.Second)
}

// Buckets keeps a token bucket for each caller that has a limit. A bucket admits at most
// limit tokens in any 60 seconds: each token returns 60 seconds after it was taken.
type Buckets interface {
	// Take takes cost tokens, or none when fewer are left. It returns the state afterwards
	// and whether the tokens were taken. limit and cost are at least 1. A bucket whose limit
	// changed starts full. An error means that the store did not answer; it is not a
	// refusal.
	Take(ctx context.Context, key BucketKey, limit, cost int) (Rate, bool, error)
}

// BucketKey identifies a bucket. The public API has one bucket for an organization's live
// credentials and one for its test credentials; the agent endpoint has one for each client.
type BucketKey struct {
	Resource    access.Resource
	OrgID       string
	Environment core.Environment
	// CredentialID is "" where all credentials of the organization share a bucket.
	CredentialID string
}

func bucketKey(p core.Principal, resource access.Resource) BucketKey {
	key := BucketKey{Resource: resource, OrgID: p.Org.ID, Environment: p.Credential.Environment}
	if resource == access.Agent {
		key.CredentialID = p.Credential.ID
	}
	return key
}

// limit takes one token for a call. It returns nil, nil for a principal without a limit.
// With rate_limited, when no token is left, it returns the state of the bucket too.
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
