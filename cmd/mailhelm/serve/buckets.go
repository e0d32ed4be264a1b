package serve

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/guardrails/redisbuckets"
)

const redisTimeout = time.Second

// openBuckets is the buckets in the configured Redis, nil without one. A Redis
// that does not answer is told of and keeps nothing from starting: calls do
// without it later too, see guardrails.
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

// sharedBuckets is nil, not a nil pointer in an interface, without a Redis.
func (s *stores) sharedBuckets() guardrails.Buckets {
	if s.buckets == nil {
		return nil
	}
	return s.buckets
}

// shares reports whether Redis answers.
func (r *readiness) shares(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, redisTimeout)
	defer cancel()
	err := r.buckets.Ping(ctx)
	if err != nil {
		r.log.WarnContext(ctx, "rate limits are not shared: Redis does not answer", "error", err)
	}
	return err == nil
}
