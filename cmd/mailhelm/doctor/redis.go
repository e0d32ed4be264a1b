package doctor

import (
	"context"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/guardrails/redisbuckets"
)

// redis checks the connection to Redis, if one is configured and the role is not worker. If
// Redis does not answer, it adds a Warn to the report, because a server works without
// Redis. For an invalid address it adds a Fail, because a server does not start with it.
func (e *examination) redis(ctx context.Context) {
	const name = "redis"
	if e.cfg.RedisURL == "" || e.cfg.Role == config.Worker {
		return
	}
	buckets, err := redisbuckets.Open(redisbuckets.Config{URL: e.cfg.RedisURL})
	if err != nil {
		e.add(name, Fail, "--redis-url "+err.Error(), "Correct it where 'mailhelm config' says the value comes from.")
		return
	}
	defer buckets.Close() //nolint:errcheck // nothing was written
	if err := buckets.Ping(ctx); err != nil {
		e.add(name, Warn, err.Error(), "Check --redis-url and that Redis accepts connections from here. Until it answers, each process counts rate limits for itself.")
		return
	}
	e.add(name, OK, "answers; rate limits are shared", "")
}
