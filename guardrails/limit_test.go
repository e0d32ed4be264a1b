package guardrails_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

func (b *bundle) admit(t *testing.T, resource access.Resource) (admitted bool, remaining int, reset time.Duration) {
	t.Helper()
	a, err := b.catalogue.Admit(t.Context(), []string{"Bearer good"}, resource)
	if err != nil {
		wantCode(t, core.AsError(err), core.CodeRateLimited)
		if core.AsError(err).RetryAfter != a.Rate.Reset {
			t.Errorf("retry after %v, reset %v: they are one number", core.AsError(err).RetryAfter, a.Rate.Reset)
		}
	}
	return err == nil, a.Rate.Remaining, a.Rate.Reset
}

func TestLimitFillsOverAMinute(t *testing.T) {
	t.Parallel()
	b := setup(t)
	limit := 6
	b.principal.Org.RateLimit = &limit
	for i := range 6 {
		if ok, remaining, reset := b.admit(t, access.API); !ok || remaining != 5-i || reset != time.Duration(10*(i+1))*time.Second {
			t.Fatalf("call %d: %v, %d remaining, reset in %v", i, ok, remaining, reset)
		}
	}
	if ok, remaining, reset := b.admit(t, access.API); ok || remaining != 0 || reset != time.Minute {
		t.Fatalf("the seventh call: %v, %d, %v", ok, remaining, reset)
	}
	b.clock.advance(10 * time.Second)
	if ok, _, _ := b.admit(t, access.API); !ok {
		t.Error("after a sixth of a minute there is one more")
	}
	if ok, _, _ := b.admit(t, access.API); ok {
		t.Error("and only one")
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

func TestNoLimitNoState(t *testing.T) {
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
