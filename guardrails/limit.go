package guardrails

import (
	"context"
	"math"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// Rate is the state of a caller's bucket, as the rate headers tell it.
type Rate struct {
	Limit     int // calls a minute
	Remaining int
	// Reset is how long until the bucket is full again, in whole seconds.
	Reset time.Duration
}

// RateOf is the state of a bucket of limit tokens a minute that holds tokens now.
func RateOf(limit int, tokens float64) Rate {
	missing := float64(limit) - tokens
	seconds := math.Ceil(missing / float64(limit) * 60)
	return Rate{
		Limit:     limit,
		Remaining: max(0, int(tokens)),
		Reset:     time.Duration(seconds) * time.Second,
	}
}

// Buckets keeps one token bucket for each caller that has a limit. A bucket is
// full at first, fills evenly over a minute and holds one minute's worth, so any
// 60 seconds admit at most the limit beyond what had been saved up.
type Buckets interface {
	// Take takes cost tokens, or none when there are fewer, and reports the state
	// after that and whether they were taken. limit and cost are at least 1. A
	// bucket whose limit was changed starts afresh. An error says that the store
	// did not answer; it is no refusal.
	Take(ctx context.Context, key BucketKey, limit, cost int) (Rate, bool, error)
}

// BucketKey says whose bucket it is: the public API counts an organization's live
// and test credentials as one each; the agent endpoint counts each client on its
// own.
type BucketKey struct {
	Resource    access.Resource
	OrgID       string
	Environment core.Environment
	// CredentialID is "" where credentials are not counted on their own.
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
		Code: core.CodeRateLimited, RetryAfter: state.Reset,
		Message: "The rate limit of this organization's credentials is used up.",
	}
}
