package serve

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/guardrails/redisbuckets"
)

// redisTimeout limits how long the start of a server waits for Redis.
const redisTimeout = time.Second

// openBuckets returns the counters of rate limits in Redis. It returns nil if no Redis is
// configured, and for a worker. If Redis does not answer, it only logs a warning, because
// calls also work without Redis. It fails for an invalid address. The caller closes the
// result.
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

// sharedBuckets returns the counters of rate limits in Redis, or nil without Redis. It
// never returns an interface that holds a nil pointer, because such an interface is not
// nil.
func (s *stores) sharedBuckets() guardrails.Buckets {
	if s.buckets == nil {
		return nil
	}
	return s.buckets
}
