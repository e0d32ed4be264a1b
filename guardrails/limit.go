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
	// Reset is how long until the bucket is back at full if nothing more is taken.
	Reset time.Duration
	// RetryAfter is when the refused call would be admitted; 0 when the call was admitted.
	RetryAfter time.Duration
}

// NewRate rounds the counts of a store of buckets.
func NewRate(limit, remaining int, reset, retry time.Duration) Rate {
	return Rate{Limit: limit, Remaining: max(0, remaining), Reset: upToSeconds(reset), RetryAfter: upToSeconds(retry)}
}

func upToSeconds(d time.Duration) time.Duration {
	return (max(0, d) + time.Second - 1).Truncate(time.Second)
}

// Buckets keeps a bucket for each caller that has a limit. A bucket admits at most
// limit tokens in any 60 seconds: what was taken comes back 60 seconds later.
type Buckets interface {
	// Take takes cost tokens, or none when fewer are left, and reports the state
	// after that and whether they were taken. limit and cost are at least 1. A
	// bucket whose limit was changed starts afresh. An error says that the store
	// did not answer; it is no refusal.
	Take(ctx context.Context, key BucketKey, limit, cost int) (Rate, bool, error)
}

// BucketKey identifies a bucket. The public API has one bucket for an organization's live
// credentials and one for its test credentials; the agent endpoint has one for each client.
type BucketKey struct {
	Resource    access.Resource
	OrgID       string
	Environment core.Environment
	// CredentialID is "" where credentials share a bucket.
	CredentialID string
}

func bucketKey(p core.Principal, resource access.Resource) BucketKey {
	key := BucketKey{Resource: resource, OrgID: p.Org.ID, Environment: p.Credential.Environment}
	if resource == access.Agent {
		key.CredentialID = p.Credential.ID
	}
	return key
}

// limit takes one token. It returns nil, nil for a principal without a limit, and
// the bucket's state with rate_limited when there is no token left.
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
