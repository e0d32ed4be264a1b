package guardrails_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

func (b *bundle) admit(t *testing.T, resource access.Resource) (admitted bool, remaining int, wait time.Duration) {
	t.Helper()
	a, err := b.catalogue.Admit(t.Context(), []string{"Bearer good"}, resource)
	if err == nil {
		return true, a.Rate.Remaining, a.Rate.Reset
	}
	wantCode(t, core.AsError(err), core.CodeRateLimited)
	if core.AsError(err).RetryAfter != a.Rate.RetryAfter {
		t.Errorf("retry after %v, want %v", core.AsError(err).RetryAfter, a.Rate.RetryAfter)
	}
	return false, a.Rate.Remaining, a.Rate.RetryAfter
}

// TestLimitHoldsInEveryMinute checks that a token returns to the bucket one minute after
// its use. The error for a call above the limit must say when the next call is admitted.
func TestLimitHoldsInEveryMinute(t *testing.T) {
	t.Parallel()
	b := setup(t)
	limit := 6
	b.principal.Org.RateLimit = &limit
	for i := range 6 {
		if ok, remaining, reset := b.admit(t, access.API); !ok || remaining != 5-i || reset != time.Minute {
			t.Fatalf("call %d: %v, %d remaining, reset in %v", i, ok, remaining, reset)
		}
		b.clock.advance(2500 * time.Millisecond)
	}
	for _, retry := range []time.Duration{45, 35, 25, 15, 5} {
		if ok, remaining, wait := b.admit(t, access.API); ok || remaining != 0 || wait != retry*time.Second {
			t.Fatalf("the seventh call: %v, %d, %v, want %v", ok, remaining, wait, retry)
		}
		b.clock.advance(10 * time.Second)
	}
	b.clock.advance(-5 * time.Second)
	if ok, _, _ := b.admit(t, access.API); !ok {
		t.Error("the first call is a minute ago, and there is no call more")
	}
	if ok, _, wait := b.admit(t, access.API); ok || wait != 3*time.Second {
		t.Errorf("and only one: %v, wait %v", ok, wait)
	}
}

// TestFewCallsAboveTheLimitAreLogged refuses calls of two callers as fast as they come. Each caller
// has one line in ten seconds, with the number of the calls between.
func TestFewCallsAboveTheLimitAreLogged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	limit := 1
	b.principal.Org.RateLimit = &limit
	refuse := func() (logged bool, omitted int) {
		t.Helper()
		a, err := b.catalogue.Admit(t.Context(), []string{"Bearer good"}, access.Agent)
		wantCode(t, core.AsError(err), core.CodeRateLimited)
		return !a.Unlogged, a.Omitted
	}
	for _, client := range []string{"one", "two"} {
		b.principal.Credential.ID = client
		if a, err := b.catalogue.Admit(t.Context(), []string{"Bearer good"}, access.Agent); err != nil || a.Unlogged {
			t.Fatalf("the first call: %v", err)
		}
		for i := range 100 {
			if logged, omitted := refuse(); logged != (i == 0) || omitted != 0 {
				t.Errorf("%s, call %d: logged %t, omitted %d", client, i, logged, omitted)
			}
		}
	}
	b.clock.advance(10 * time.Second)
	if logged, omitted := refuse(); !logged || omitted != 99 {
		t.Errorf("after ten seconds: logged %t, omitted %d", logged, omitted)
	}
	if logged, _ := refuse(); logged {
		t.Error("the next call is logged")
	}
	b.clock.advance(-time.Hour) // the clock was set back
	if logged, omitted := refuse(); !logged || omitted != 1 {
		t.Errorf("by a clock that was set back: logged %t, omitted %d", logged, omitted)
	}
}

func TestBucketsAreApart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	limit := 10
	b.principal.Org.RateLimit = &limit
	b.principal.Credential.Environment = core.Test // a tenth: one call
	if ok, _, _ := b.admit(t, access.API); !ok {
		t.Fatal("the first test call")
	}
	if ok, _, _ := b.admit(t, access.API); ok {
		t.Error("test credentials get a tenth")
	}
	if ok, _, _ := b.admit(t, access.Agent); !ok {
		t.Error("the agent endpoint has a bucket of its own")
	}
	b.principal.Credential.ID = core.NewID()
	if ok, _, _ := b.admit(t, access.API); ok {
		t.Error("the public API counts the organization, not the credential")
	}
	if ok, _, _ := b.admit(t, access.Agent); !ok {
		t.Error("the agent endpoint counts each client")
	}
	b.principal.Credential.Environment = core.Live
	if ok, remaining, _ := b.admit(t, access.API); !ok || remaining != 9 {
		t.Error("live credentials do not pay for test ones")
	}
}

func TestWithoutALimitNoRateIsReported(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a, err := b.catalogue.Admit(t.Context(), []string{"bearer  good"}, access.API)
	if err != nil || a.Rate != nil {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestOnlyOneWellFormedBearerIsTaken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, authorization := range [][]string{
		nil,
		{""},
		{"good"},
		{"Bearer"},
		{"Bearer "},
		{"Basic good"},
		{"Bearer good, Bearer good"},
		{"Bearer good", "Bearer good"},
		{"Bearer good x"},
		{"Bearer bad"},
		{"Bearer good\t"},
	} {
		_, err := b.catalogue.Admit(t.Context(), authorization, access.API)
		wantCode(t, core.AsError(err), core.CodeInvalidKey)
	}
}
