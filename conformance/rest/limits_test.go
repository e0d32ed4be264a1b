package rest_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
)

func TestRateLimit(t *testing.T) {
	t.Parallel()
	limit := 20
	a := start(t, product.Options{RateLimit: &limit})
	a.Clock.Freeze(a.Clock.Now())
	test := a.as(a.Test.APIKey)
	for i := range limit {
		// Refused calls count too. All live credentials of an organization share one limit.
		got := a.do(t, "GET", "/v1/contacts?limit=0", "").want(422)
		checkRate(t, got, limit, limit-i-1, 60)
	}
	token := a.as(a.Token(t, a.BaseURL))
	over := token.do(t, "GET", "/v1/contacts", "")
	p := over.refused(429, core.CodeRateLimited)
	checkRate(t, over, limit, 0, 60)
	if over.header.Get("Retry-After") != "60" || p.RetryAfter != 60 {
		t.Errorf("Retry-After = %q, retry_after = %d", over.header.Get("Retry-After"), p.RetryAfter)
	}
	// Test credentials have a tenth of the organization's rate limit, and their calls are
	// counted separately.
	checkRate(t, test.do(t, "GET", "/v1/_scopes", "").want(200), 2, 1, 60)
	checkRate(t, test.do(t, "GET", "/v1/_scopes", "").want(200), 2, 0, 60)
	test.do(t, "GET", "/v1/_scopes", "").refused(429, core.CodeRateLimited)
	// The other organization has no limit, so its responses have no RateLimit headers.
	if h := a.as(a.Other.Live.APIKey).do(t, "GET", "/v1/contacts", "").want(200).header; h.Get("RateLimit-Limit") != "" {
		t.Errorf("rate headers without a limit: %v", h)
	}
	a.Clock.Advance(59 * time.Second)
	over = a.do(t, "GET", "/v1/_scopes", "")
	over.refused(429, core.CodeRateLimited)
	checkRate(t, over, limit, 0, 1)
	a.Clock.Advance(time.Second)
	checkRate(t, a.do(t, "GET", "/v1/_scopes", "").want(200), limit, limit-1, 60)
}

func checkRate(t *testing.T, a *answer, limit, remaining, reset int) {
	t.Helper()
	for name, want := range map[string]int{"RateLimit-Limit": limit, "RateLimit-Remaining": remaining, "RateLimit-Reset": reset} {
		for _, header := range []string{name, "X-" + name} {
			if got := a.header.Get(header); got != strconv.Itoa(want) {
				t.Errorf("%s: %s = %q, want %d", a.call, header, got, want)
			}
		}
	}
	if got := a.header.Get("RateLimit-Policy"); got != strconv.Itoa(limit)+";w=60" {
		t.Errorf("%s: RateLimit-Policy = %q", a.call, got)
	}
}

// TestTestCredentialsHaveATenth checks that test keys and test tokens share a limit. It is
// a tenth of the live limit, rounded down, but never less than one call.
func TestTestCredentialsHaveATenth(t *testing.T) {
	t.Parallel()
	for limit, tenth := range map[int]int{1: 1, 9: 1, 10: 1, 29: 2} {
		t.Run(strconv.Itoa(limit), func(t *testing.T) {
			t.Parallel()
			a := start(t, product.Options{RateLimit: &limit})
			a.Clock.Freeze(a.Clock.Now())
			key, client := a.as(a.Test.APIKey), a.as(a.TokenWith(t, a.Test, a.BaseURL))
			for i := range tenth {
				caller := key
				if i%2 == 1 {
					caller = client
				}
				if got := caller.do(t, "GET", "/v1/_scopes", "").want(200).header.Get("RateLimit-Limit"); got != strconv.Itoa(tenth) {
					t.Errorf("RateLimit-Limit = %q, want %d", got, tenth)
				}
			}
			key.do(t, "GET", "/v1/_scopes", "").refused(429, core.CodeRateLimited)
			client.do(t, "GET", "/v1/_scopes", "").refused(429, core.CodeRateLimited)
		})
	}
}
