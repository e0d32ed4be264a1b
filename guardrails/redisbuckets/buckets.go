package redisbuckets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/redis/go-redis/v9"
)

// Buckets are buckets in one Redis database. Safe for concurrent use.
type Buckets struct {
	client  *redis.Client
	limiter *redis_rate.Limiter
}

// Take implements [guardrails.Buckets]. It waits until ctx ends, at most.
func (b *Buckets) Take(ctx context.Context, key guardrails.BucketKey, limit, cost int) (guardrails.Rate, bool, error) {
	result, err := b.limiter.AllowN(ctx, nameOf(key, limit), redis_rate.PerMinute(limit), cost)
	if err != nil {
		return guardrails.Rate{}, false, fmt.Errorf("redis: %w", err)
	}
	admitted := result.Allowed > 0
	state := guardrails.RateOf(limit, tokensLeft(limit, result.ResetAfter))
	if !admitted {
		state.Remaining = min(state.Remaining, cost-1)
	}
	return state, admitted, nil
}

// Redis's clock has microseconds, and the script's arithmetic is off by less.
const resolution = time.Microsecond

// tokensLeft is what a bucket holds that is full again after reset. The script's
// own figure is cut to whole tokens after rounding, and so is one short at times.
func tokensLeft(limit int, reset time.Duration) float64 {
	missing := max(0, reset-resolution).Minutes() * float64(limit)
	return float64(limit) - missing
}

// nameOf is the name of a bucket in Redis, behind redis_rate's own prefix. The
// limit is part of it: a bucket whose limit was changed starts afresh.
func nameOf(key guardrails.BucketKey, limit int) string {
	whose := fmt.Sprintf("%d %q %q %q", key.Resource, key.OrgID, key.Environment, key.CredentialID)
	digest := sha256.Sum256([]byte(whose))
	return "mailhelm:" + hex.EncodeToString(digest[:16]) + ":" + strconv.Itoa(limit)
}

// Ping asks whether Redis answers and accepts the credentials.
func (b *Buckets) Ping(ctx context.Context) error {
	if err := b.client.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("redis: %w", err)
	}
	return nil
}

// Close closes the connections.
func (b *Buckets) Close() error { return b.client.Close() }
