package verify_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/mailauth/verify"
)

func TestRemember(t *testing.T) {
	t.Parallel()
	z := newZone(t)
	z.Add(t, `mx.test. TXT "v=spf1 mx ptr -all"`, `mx.test. MX 10 in.mx.test.`, `in.mx.test. A 198.51.100.1`)
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	m := verify.Remember(z, z, func() time.Time { return now })
	a := &verify.Authenticator{Resolver: m, Existence: m}
	message := sign(t, plain, signing{domain: "example.com", selector: "ed", key: ed25519Key()})
	check := func(want int) {
		t.Helper()
		before := z.Queries("")
		for _, mailFrom := range []string{"b@bounce.example.com", "b@MX.test"} {
			if got := a.Authenticate(t.Context(), input(mailFrom, message)); got.DMARC.Outcome != "pass" {
				t.Errorf("%+v", got)
			}
		}
		if made := z.Queries("") - before; made != want {
			t.Errorf("%d queries instead of %d", made, want)
		}
	}
	// SPF of two domains (2 and 4), the key, and the author's and the SPF domain's policies.
	check(2 + 4 + 1 + 3)
	check(0)
	now = now.Add(11 * time.Second)
	check(3) // the names without records: the PTR record, _dmarc.com and _dmarc.bounce
	now = now.Add(20 * time.Second)
	check(2 + 4 + 1 + 3)
}

// TestRememberNoFailure checks that failures and large answers are asked for again.
func TestRememberNoFailure(t *testing.T) {
	t.Parallel()
	z := newZone(t)
	z.Break("broken.test")
	z.AddTXT("large.test", strings.Repeat("x", 5000))
	m := verify.Remember(z, nil, nil)
	for range 2 {
		if _, err := m.LookupTXT(t.Context(), "broken.test."); err == nil {
			t.Error("no error")
		}
		if texts, err := m.LookupTXT(t.Context(), "large.test."); err != nil || len(texts) != 1 {
			t.Errorf("%d texts, %v", len(texts), err)
		}
	}
	if z.Queries("broken.test") != 2 || z.Queries("large.test") != 2 {
		t.Errorf("%d and %d queries", z.Queries("broken.test"), z.Queries("large.test"))
	}
	if exists, err := m.Exists(t.Context(), "none.test"); !exists || err != nil {
		t.Errorf("without an existence: %v, %v", exists, err)
	}
}
