package redisbuckets

import (
	"context"
	"crypto/sha256"
	_ "embed" // the script
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/redis/go-redis/v9"
)

// Buckets keeps the token buckets of rate limits in one Redis database. It is safe for
// concurrent use.
type Buckets struct {
	client *redis.Client
}

//go:embed take.lua
var takeSource string

// take is the Lua script take.lua. Redis stores it at its first use; later calls only send
// its digest.
var take = redis.NewScript(takeSource)

// Take implements [guardrails.Buckets]. It fails if Redis does not answer before ctx ends.
func (b *Buckets) Take(ctx context.Context, key guardrails.BucketKey, limit, cost int) (guardrails.Rate, bool, error) {
	answer, err := take.Run(ctx, b.client, []string{nameOf(key, limit)},
		limit, cost, guardrails.Window.Microseconds(), guardrails.Grain(limit).Microseconds()).Int64Slice()
	if err != nil {
		return guardrails.Rate{}, false, fmt.Errorf("redis: %w", err)
	}
	if len(answer) != answers {
		return guardrails.Rate{}, false, fmt.Errorf("redis: the script answered %d numbers, want %d", len(answer), answers)
	}
	used, reset, retry := int(answer[1]), microseconds(answer[2]), microseconds(answer[3])
	return guardrails.NewRate(limit, limit-used, reset, retry), answer[0] == 1, nil
}

// answers is the number of values that the Lua script returns.
const answers = 4

func microseconds(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// nameOf returns the Redis key of a bucket. If the limit changes, the Redis key changes
// too, so that the bucket starts full.
func nameOf(key guardrails.BucketKey, limit int) string {
	whose := fmt.Sprintf("%d %q %q %q", key.Resource, key.OrgID, key.Environment, key.CredentialID)
	digest := sha256.Sum256([]byte(whose))
	return "mailhelm:calls:" + hex.EncodeToString(digest[:16]) + ":" + strconv.Itoa(limit)
}

// Ping fails if Redis does not answer or does not accept the credentials.
func (b *Buckets) Ping(ctx context.Context) error {
	if err := b.client.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("redis: %w", err)
	}
	return nil
}

// Close closes the connections.
func (b *Buckets) Close() error { return b.client.Close() }
