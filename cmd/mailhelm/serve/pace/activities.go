package pace

import (
	"cmp"
	"context"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/guardrails"
)

// volumeBuckets takes the place of a credential id in the key of the rate limit on
// activities. Activities are thus counted separately from calls, whose keys have the id of
// a credential.
const volumeBuckets = "activities"

// redisTimeout limits how long counting in Redis may take, if cfg.RedisTimeout is not set.
const redisTimeout = time.Second

// Activities returns a function that limits the activities of an organization per minute. The
// counters shared are those in Redis, nil without one. For n activities it returns how many of them the limit allows; package
// core/activities refuses the rest. It counts in this process. If Redis answers, it also
// counts there, for all processes together.
func Activities(cfg config.Config, shared guardrails.Buckets) func(context.Context, string, int) (int, error) {
	limit := cmp.Or(cfg.ActivitiesPerMinute, activities.DefaultVolume)
	own := guardrails.OwnBuckets(cfg.Clock)
	return func(ctx context.Context, orgID string, n int) (int, error) {
		key := guardrails.BucketKey{Resource: access.API, OrgID: orgID, CredentialID: volumeBuckets}
		if shared != nil {
			bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), cmp.Or(cfg.RedisTimeout, redisTimeout))
			defer cancel()
			admitted, err := takeUpTo(bounded, shared, key, limit, n)
			if err == nil && admitted == 0 {
				return 0, nil
			}
			if err == nil {
				return takeUpTo(ctx, own, key, limit, admitted)
			}
			cfg.Log.DebugContext(ctx, "activities are counted in this process alone", "error", err)
		}
		return takeUpTo(ctx, own, key, limit, n)
	}
}

// takeUpTo takes up to n tokens from a rate-limit bucket and returns how many it took. It
// returns 0 if the bucket is empty or after three failed attempts. n must be at least 1.
func takeUpTo(ctx context.Context, from guardrails.Buckets, key guardrails.BucketKey, limit, n int) (int, error) {
	const attempts = 3 // an attempt fails if other callers take tokens concurrently
	for range attempts {
		state, taken, err := from.Take(ctx, key, limit, n)
		if err != nil {
			return 0, err
		}
		if taken {
			return n, nil
		}
		if n = min(n, state.Remaining); n == 0 {
			break
		}
	}
	return 0, nil
}
