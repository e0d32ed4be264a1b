package redisbuckets

import (
	"context"
	"crypto/sha1" //nolint:gosec // the name that Redis gives to a script
	"crypto/sha256"
	_ "embed" // the script
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/mailhelm/mailhelm/guardrails"
)

// Buckets keeps the token buckets of rate limits in one Redis database. It is safe for
// concurrent use.
type Buckets struct {
	conns *connections
}

func newBuckets(address string, options []redis.DialOption) *Buckets {
	return &Buckets{newConnections(address, options)}
}

//go:embed take.lua
var takeSource string

// takeDigest is the name under which Redis stores the script, after its first use.
var takeDigest = func() string {
	sum := sha1.Sum([]byte(takeSource)) //nolint:gosec // the name that Redis gives to a script
	return hex.EncodeToString(sum[:])
}()

// Take implements [guardrails.Buckets]. It fails if Redis does not answer before ctx ends. If
// Redis closes the connection during a call, the tokens may be taken twice.
func (b *Buckets) Take(ctx context.Context, key guardrails.BucketKey, limit, cost int) (guardrails.Rate, bool, error) {
	arguments := []any{
		takeDigest, 1, nameOf(key, limit),
		limit, cost, guardrails.Window.Microseconds(), guardrails.Grain(limit).Microseconds(),
	}
	answer, err := redis.Int64s(b.conns.run(ctx, func(conn redis.Conn, within time.Duration) (any, error) {
		answer, err := redis.DoWithTimeout(conn, within, "EVALSHA", arguments...)
		if refused, ok := errors.AsType[redis.Error](err); ok && strings.HasPrefix(refused.Error(), "NOSCRIPT ") {
			return redis.DoWithTimeout(conn, within, "EVAL", append([]any{takeSource}, arguments[1:]...)...)
		}
		return answer, err
	}))
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
	_, err := b.conns.run(ctx, func(conn redis.Conn, within time.Duration) (any, error) {
		return redis.DoWithTimeout(conn, within, "PING")
	})
	if err != nil {
		return fmt.Errorf("redis: %w", err)
	}
	return nil
}

// Close closes the connections.
func (b *Buckets) Close() error { return b.conns.close() }
