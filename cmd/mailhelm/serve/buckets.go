package serve

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/guardrails/redisbuckets"
)

// redisTimeout limits a ping of Redis. It also limits the counting of activities there,
// unless cfg.RedisTimeout is set.
const redisTimeout = time.Second

// openBuckets returns the rate-limit buckets in the configured Redis, or nil without
// one. A worker needs none. If Redis does not answer, it logs a warning and the host
// starts: calls work without Redis too, see guardrails. It returns an error only for an
// invalid address. The caller closes the buckets.
func openBuckets(ctx context.Context, cfg config.Config) (*redisbuckets.Buckets, error) {
	if cfg.RedisURL == "" || cfg.Role == config.Worker {
		return nil, nil
	}
	buckets, err := redisbuckets.Open(redisbuckets.Config{URL: cfg.RedisURL})
	if err != nil {
		return nil, fmt.Errorf("--redis-url: %w", err)
	}
	bounded, cancel := context.WithTimeout(ctx, redisTimeout)
	defer cancel()
	if err := buckets.Ping(bounded); err != nil {
		cfg.Log.WarnContext(ctx, "rate limits are counted in each process alone until Redis answers", "error", err)
	}
	return buckets, nil
}

// sharedBuckets returns the buckets in Redis. Without a Redis it returns a nil
// interface, not an interface that holds a nil pointer.
func (s *stores) sharedBuckets() guardrails.Buckets {
	if s.buckets == nil {
		return nil
	}
	return s.buckets
}

// shares reports whether Redis answers. It logs a warning if Redis does not answer
// within a second. Call it only with buckets.
func (r *readiness) shares(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, redisTimeout)
	defer cancel()
	err := r.buckets.Ping(ctx)
	if err != nil {
		r.log.WarnContext(ctx, "rate limits are not shared: Redis does not answer", "error", err)
	}
	return err == nil
}
