package server

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// askScopes calls the route GET /v1/_scopes with a bearer credential. The tests use this
// route because it is cheap.
func askScopes(t *testing.T, p *product.Product, bearer string) answer {
	t.Helper()
	return get(t, p, p.BaseURL+"/v1/_scopes", bearer)
}

const (
	ping  = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	batch = "[" + ping + "," + ping + "]"
)

// wantRate checks the status of an answer and its rate-limit headers. The reset must be 60
// seconds, because a call becomes available again one minute after its use. It may be a few
// seconds less, because the clock of Redis runs.
func (a answer) wantRate(t *testing.T, status, limit, remaining int) {
	t.Helper()
	if a.status != status {
		t.Errorf("status %d, want %d: %.300s", a.status, status, a.body)
	}
	for _, prefix := range []string{"", "X-"} {
		if l, r := a.header.Get(prefix+"RateLimit-Limit"), a.header.Get(prefix+"RateLimit-Remaining"); l != strconv.Itoa(limit) || r != strconv.Itoa(remaining) {
			t.Errorf("limit %q and %q remaining, want %d and %d", l, r, limit, remaining)
		}
		reset, err := strconv.Atoi(a.header.Get(prefix + "RateLimit-Reset"))
		if err != nil || reset > 60 || reset < 60-resetSlack {
			t.Errorf("reset %d, want 60", reset)
		}
	}
	if status != http.StatusTooManyRequests {
		return
	}
	var problem struct {
		Code       string `json:"code"`
		RetryAfter int    `json:"retry_after"`
	}
	if err := json.Unmarshal([]byte(a.body), &problem); err != nil || problem.Code != "rate_limited" {
		t.Errorf("%v: %.300s", err, a.body)
	}
	after := a.header.Get("Retry-After")
	if seconds, err := strconv.Atoi(after); err != nil || seconds != problem.RetryAfter || seconds < 1 || seconds > 60 {
		t.Errorf("Retry-After %q, retry_after %d: they are one number", after, problem.RetryAfter)
	}
}

// resetSlack is the number of seconds by which the reset in the headers may be below 60.
// The calls of one test may take that long.
const resetSlack = 9

// startTwoServers starts two products with the same demo data, rate limit and Redis server.
func startTwoServers(t *testing.T, limit int) (*product.Product, *product.Product, *enginetest.RedisServer) {
	t.Helper()
	server := enginetest.Redis(t)
	opts := product.Options{RateLimit: &limit, RedisURL: server.URL}
	return product.Start(t, opts), product.Start(t, opts), server
}

func TestTwoServersShareLimitsOfTheAPI(t *testing.T) {
	t.Parallel()
	one, other, _ := startTwoServers(t, 4)
	for i, p := range []*product.Product{one, other, other, one} {
		askScopes(t, p, one.Live.APIKey).wantRate(t, 200, 4, 3-i)
	}
	askScopes(t, other, one.Live.APIKey).wantRate(t, 429, 4, 0)
	// The live credentials of an organization share one limit. Its test credentials share
	// another, a tenth of that but at least one call.
	askScopes(t, one, one.Token(t, one.BaseURL)).wantRate(t, 429, 4, 0)
	askScopes(t, one, one.Test.APIKey).wantRate(t, 200, 1, 0)
	askScopes(t, other, one.Test.APIKey).wantRate(t, 429, 1, 0)
	if a := askScopes(t, one, one.Other.Live.APIKey); a.status != 200 || a.header.Get("RateLimit-Limit") != "" {
		t.Errorf("without a limit: %d, %v", a.status, a.header)
	}
}

func TestTwoServersShareLimitsOfTheAgentEndpoint(t *testing.T) {
	t.Parallel()
	one, other, _ := startTwoServers(t, 4)
	tokens := map[*product.Product]string{one: one.Token(t, one.MCPURL), other: other.Token(t, other.MCPURL)}
	// Calls of the public API do not count toward the limit of the agent endpoint.
	askScopes(t, one, one.Live.APIKey).wantRate(t, 200, 4, 3)
	for i, step := range []struct {
		p      *product.Product
		body   string
		status int
	}{{one, ping, 200}, {other, batch, 400}, {other, ping, 200}, {one, `{"jsonrpc"`, 400}, {other, ping, 429}, {one, batch, 429}} {
		taken := min(i+1, 4)
		post(t, step.p, tokens[step.p], step.body, nil).wantRate(t, step.status, 4, 4-taken)
	}
	// Another client of the organization has a bucket of its own.
	post(t, one, one.TokenWith(t, one.Test, one.MCPURL), ping, nil).wantRate(t, 200, 1, 0)
}

const redisPassword = "redis-password" // see enginetest.Redis

func TestCallsGoOnWithoutRedis(t *testing.T) {
	t.Parallel()
	server := enginetest.Redis(t)
	limit, log := 4, new(journal)
	p := product.Start(t, product.Options{RateLimit: &limit, RedisURL: server.URL, Log: log})
	p.Clock.Freeze(p.Clock.Now())
	ready := func(redis string) {
		t.Helper()
		a := get(t, p, p.AdminURL+"/readyz", "")
		if a.status != 200 || !strings.Contains(a.body, `"redis":"`+redis+`"`) {
			t.Errorf("readiness: %d %s, want redis %s", a.status, a.body, redis)
		}
	}
	ready("ok")
	askScopes(t, p, p.Live.APIKey).wantRate(t, 200, 4, 3)

	server.Stop()
	// Redis is stopped, so calls now use a bucket in memory. This bucket has also counted
	// the earlier call, although that call used Redis.
	for i := range 3 {
		askScopes(t, p, p.Live.APIKey).wantRate(t, 200, 4, 2-i)
	}
	over := askScopes(t, p, p.Live.APIKey)
	over.wantRate(t, 429, 4, 0)
	ready("failed")
	metrics := get(t, p, p.AdminURL+"/metrics", "").body
	for _, line := range []string{
		`mailhelm_rate_limit_fallbacks_total{cause="failed"} 3`, `mailhelm_rate_limit_fallbacks_total{cause="skipped"} 1`,
	} {
		if !strings.Contains(metrics, line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
	if n := log.count("counted in this process alone"); n != 1 {
		t.Errorf("the log tells %d times", n)
	}

	server.Start(t)
	// after a failure, calls try Redis again only after a pause of 5 seconds
	askScopes(t, p, p.Live.APIKey).wantRate(t, 429, 4, 0)
	p.Clock.Advance(5 * time.Second)
	product.Await(t, patience, func() error {
		if log.count("shared again") > 0 {
			return nil
		}
		askScopes(t, p, p.Live.APIKey) // the Redis client may need a moment to reconnect
		p.Clock.Advance(5 * time.Second)
		return errors.New("the log does not tell that the limits are shared again")
	})
	ready("ok")
	if log.count("shared again") != 1 || log.count(redisPassword) != 0 || strings.Contains(over.body+metrics, redisPassword) {
		t.Errorf("the return is told %d times, the password %d times", log.count("shared again"), log.count(redisPassword))
	}
}

// TestStartWithoutRedis checks that a server also starts if its Redis has stopped. The
// server must then count calls in memory.
func TestStartWithoutRedis(t *testing.T) {
	t.Parallel()
	server := enginetest.Redis(t)
	server.Stop()
	limit := 4
	p := product.Start(t, product.Options{RateLimit: &limit, RedisURL: server.URL})
	askScopes(t, p, p.Live.APIKey).wantRate(t, 200, 4, 3)
}
