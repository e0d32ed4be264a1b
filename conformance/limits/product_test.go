package limits

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// answer is an HTTP response whose body was read completely.
type answer struct {
	status int
	header http.Header
	body   string
}

// call sends a request and returns the answer. If bearer is "", the request has no
// Authorization header.
func call(t *testing.T, p *product.Product, method, address, bearer, body string) answer {
	t.Helper()
	header := map[string]string{}
	if bearer != "" {
		header["Authorization"] = "Bearer " + bearer
	}
	if body != "" {
		header["Content-Type"], header["Accept"] = "application/json", "application/json, text/event-stream"
	}
	return ask(t, p, method, address, body, header)
}

func ask(t *testing.T, p *product.Product, method, address, body string, header map[string]string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	got, err := p.HTTP.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	content, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{got.StatusCode, got.Header, string(content)}
}

// scopes calls the route GET /v1/_scopes with a bearer credential. The tests use this route
// because it is cheap.
func scopes(t *testing.T, p *product.Product, bearer string) answer {
	t.Helper()
	return call(t, p, http.MethodGet, p.BaseURL+"/v1/_scopes", bearer, "")
}

const (
	ping  = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	batch = "[" + ping + "," + ping + "]"
)

func send(t *testing.T, p *product.Product, bearer, body string) answer {
	t.Helper()
	return call(t, p, http.MethodPost, p.MCPURL+"/mcp", bearer, body)
}

// want checks the status of an answer and its rate-limit headers. The reset must be 60
// seconds, because a call becomes available again one minute after its use. It may be a few
// seconds less, because the clock of Redis runs.
func (a answer) want(t *testing.T, status, limit, remaining int) {
	t.Helper()
	if a.status != status {
		t.Errorf("status %d, want %d: %.300s", a.status, status, a.body)
	}
	for _, prefix := range []string{"", "X-"} {
		if l, r := a.header.Get(prefix+"RateLimit-Limit"), a.header.Get(prefix+"RateLimit-Remaining"); l != strconv.Itoa(limit) || r != strconv.Itoa(remaining) {
			t.Errorf("limit %q and %q remaining, want %d and %d", l, r, limit, remaining)
		}
		reset, err := strconv.Atoi(a.header.Get(prefix + "RateLimit-Reset"))
		if err != nil || reset > 60 || reset < 60-slack {
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

// slack is the number of seconds by which the reset in the headers may be below 60. The
// calls of one test may take that long.
const slack = 9

// startTwo starts two products with the same demo data, rate limit and Redis server.
func startTwo(t *testing.T, limit int) (*product.Product, *product.Product, *storagetest.RedisServer) {
	t.Helper()
	server := storagetest.Redis(t)
	opts := product.Options{RateLimit: &limit, RedisURL: server.URL}
	return product.Start(t, opts), product.Start(t, opts), server
}

func TestTwoServersShareLimitsOfTheAPI(t *testing.T) {
	t.Parallel()
	one, other, _ := startTwo(t, 4)
	for i, p := range []*product.Product{one, other, other, one} {
		scopes(t, p, one.Live.APIKey).want(t, 200, 4, 3-i)
	}
	scopes(t, other, one.Live.APIKey).want(t, 429, 4, 0)
	// The live credentials of an organization share one limit. Its test credentials share
	// another, a tenth of that but at least one call.
	scopes(t, one, one.Token(t, one.BaseURL)).want(t, 429, 4, 0)
	scopes(t, one, one.Test.APIKey).want(t, 200, 1, 0)
	scopes(t, other, one.Test.APIKey).want(t, 429, 1, 0)
	if a := scopes(t, one, one.Other.Live.APIKey); a.status != 200 || a.header.Get("RateLimit-Limit") != "" {
		t.Errorf("without a limit: %d, %v", a.status, a.header)
	}
}

func TestTwoServersShareLimitsOfTheAgentEndpoint(t *testing.T) {
	t.Parallel()
	one, other, _ := startTwo(t, 4)
	tokens := map[*product.Product]string{one: one.Token(t, one.MCPURL), other: other.Token(t, other.MCPURL)}
	// Calls of the public API do not count toward the limit of the agent endpoint.
	scopes(t, one, one.Live.APIKey).want(t, 200, 4, 3)
	for i, step := range []struct {
		p      *product.Product
		body   string
		status int
	}{{one, ping, 200}, {other, batch, 400}, {other, ping, 200}, {one, `{"jsonrpc"`, 400}, {other, ping, 429}, {one, batch, 429}} {
		taken := min(i+1, 4)
		send(t, step.p, tokens[step.p], step.body).want(t, step.status, 4, 4-taken)
	}
	// Another client of the organization has a bucket of its own.
	send(t, one, one.TokenWith(t, one.Test, one.MCPURL), ping).want(t, 200, 1, 0)
}

// lines collects a log. The test may read it while the product writes to it.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), what)
}

const password = "redis-password" // see storagetest.Redis

func TestCallsGoOnWithoutRedis(t *testing.T) {
	t.Parallel()
	server := storagetest.Redis(t)
	limit, log := 4, &lines{}
	p := product.Start(t, product.Options{RateLimit: &limit, RedisURL: server.URL, Log: log})
	p.Clock.Freeze(p.Clock.Now())
	ready := func(redis string) {
		t.Helper()
		a := call(t, p, http.MethodGet, p.AdminURL+"/readyz", "", "")
		if a.status != 200 || !strings.Contains(a.body, `"redis":"`+redis+`"`) {
			t.Errorf("readiness: %d %s, want redis %s", a.status, a.body, redis)
		}
	}
	ready("ok")
	scopes(t, p, p.Live.APIKey).want(t, 200, 4, 3)

	server.Stop()
	// Redis is stopped, so calls now use a bucket in memory. This bucket has also counted
	// the earlier call, although that call used Redis.
	for i := range 3 {
		scopes(t, p, p.Live.APIKey).want(t, 200, 4, 2-i)
	}
	over := scopes(t, p, p.Live.APIKey)
	over.want(t, 429, 4, 0)
	ready("failed")
	metrics := call(t, p, http.MethodGet, p.AdminURL+"/metrics", "", "").body
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
	scopes(t, p, p.Live.APIKey).want(t, 429, 4, 0)
	p.Clock.Advance(5 * time.Second)
	product.Await(t, patience, func() error {
		if log.count("shared again") > 0 {
			return nil
		}
		scopes(t, p, p.Live.APIKey) // the Redis client may need a moment to reconnect
		p.Clock.Advance(5 * time.Second)
		return errors.New("the log does not tell that the limits are shared again")
	})
	ready("ok")
	if log.count("shared again") != 1 || log.count(password) != 0 || strings.Contains(over.body+metrics, password) {
		t.Errorf("the return is told %d times, the password %d times", log.count("shared again"), log.count(password))
	}
}

// TestStartWithoutRedis checks that a server also starts if its Redis has stopped. The
// server must then count calls in memory.
func TestStartWithoutRedis(t *testing.T) {
	t.Parallel()
	server := storagetest.Redis(t)
	server.Stop()
	limit := 4
	p := product.Start(t, product.Options{RateLimit: &limit, RedisURL: server.URL})
	scopes(t, p, p.Live.APIKey).want(t, 200, 4, 3)
}
