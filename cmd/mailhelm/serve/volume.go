package serve

import (
	"cmp"
	"context"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/guardrails"
)

// volumeBuckets is the credential id under which items of activities are counted,
// separately from calls.
const volumeBuckets = "activities"

// activityVolume returns a function that admits up to n items of an organization,
// within its limit for a minute. It counts in this process, and also in Redis if that
// answers, where all processes share the count. The function returns how many items it
// admits; core/activities refuses the others one by one.
func activityVolume(cfg config.Config, s *stores) func(context.Context, string, int) (int, error) {
	limit := cmp.Or(cfg.ActivitiesPerMinute, activities.DefaultVolume)
	own, shared := guardrails.OwnBuckets(cfg.Clock), s.sharedBuckets()
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

// takeUpTo takes up to n tokens from a bucket and returns how many it took. After three
// failed attempts it returns 0, which refuses all items. n must be at least 1.
func takeUpTo(ctx context.Context, from guardrails.Buckets, key guardrails.BucketKey, limit, n int) (int, error) {
	const attempts = 3 // other callers take from the bucket concurrently
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
