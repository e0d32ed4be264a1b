package verify_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels/resolver"
	"github.com/mailhelm/mailhelm/core/mailauth"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
	"github.com/mailhelm/mailhelm/core/mailauth/mailauthtest"
	"github.com/mailhelm/mailhelm/core/mailauth/verify"
)

// TestVerdicts has one message for each combination that callers see often.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	aligned := signing{domain: "example.com", selector: "rsa", key: rsaKey()}
	other := signing{domain: "esp.test", selector: "ed", key: ed25519Key()}
	from := func(address string) string { return strings.ReplaceAll(plain, "news@example.com", address) }
	for name, c := range map[string]struct {
		mailFrom, message, want string
	}{
		"all pass":                    {"b@example.com", sign(t, plain, aligned), "PASS PASS PASS"},
		"SPF alone":                   {"b@bounce.example.com", plain, "PASS GRAY PASS"},
		"DKIM alone":                  {"b@quiet.test", sign(t, plain, aligned), "FAIL PASS PASS"},
		"another domain":              {"b@esp.test", sign(t, plain, other), "PASS PASS FAIL"},
		"both signatures":             {"b@esp.test", sign(t, sign(t, plain, aligned), other), "PASS PASS PASS"},
		"spoofed":                     {"b@quiet.test", plain, "FAIL GRAY FAIL"},
		"failure that is ignored":     {"b@esp.test", from("x@quiet.test"), "PASS GRAY GRAY"},
		"no policy":                   {"b@esp.test", from("x@esp.test"), "PASS GRAY GRAY"},
		"bounce":                      {"", plain, "GRAY GRAY FAIL"},
		"changed":                     {"b@quiet.test", sign(t, plain, aligned) + "more\r\n", "FAIL FAIL FAIL"},
		"subdomain without a record":  {"b@example.com", from("x@news.example.com"), "PASS GRAY PASS"},
		"domain that does not exist":  {"b@none.test", from("x@none.test"), "GRAY GRAY GRAY"},
		"From domain with a wildcard": {"b@example.com", from("x@*.example.com"), "PASS GRAY PROCESSING_FAILED"},
	} {
		if got := verdicts(authenticate(t, newZone(t), input(c.mailFrom, c.message))); got != c.want {
			t.Errorf("%s: %s instead of %s", name, got, c.want)
		}
	}
}

func TestResult(t *testing.T) {
	t.Parallel()
	message := sign(t, plain, signing{domain: "example.com", selector: "rsa", key: rsaKey()})
	got := authenticate(t, newZone(t), input("b@Bounce.Example.com", message))
	if got.SPF != (mailauth.SPF{Outcome: "pass", Domain: "bounce.example.com", Identity: mailauth.IdentityMailFrom}) {
		t.Errorf("SPF %+v", got.SPF)
	}
	if len(got.DKIM.Signatures) != 1 || got.DKIM.Signatures[0] != (mailauth.Signature{Outcome: "pass", Domain: "example.com", Selector: "rsa"}) {
		t.Errorf("DKIM %+v", got.DKIM)
	}
	if got.DMARC != (mailauth.DMARC{
		Outcome: "pass", Author: "example.com", Organization: "example.com", PolicyDomain: "example.com",
		Policy: "reject", Handling: "reject", SPFAligned: true, DKIMAligned: true,
	}) {
		t.Errorf("DMARC %+v", got.DMARC)
	}
}

// TestNameServer uses a name server on loopback, with the resolver of the standard library
// and, for the existence of a domain, the resolver of the product.
func TestNameServer(t *testing.T) {
	t.Parallel()
	z := newZone(t)
	z.Add(t, `_dmarc.np.test. TXT "v=DMARC1; p=none; np=reject"`, `real.np.test. A 192.0.2.1`)
	// A record of several strings, which is longer than a UDP answer.
	z.AddTXT("long._domainkey.example.com", keyRecord(t, rsaKey(), "n="+strings.Repeat("x", 700)+"; "))
	server := z.Serve(t)
	a := &verify.Authenticator{
		Resolver:  mailauthtest.Resolver(server),
		Existence: &resolver.Resolver{Servers: []string{server.String()}},
	}
	message := sign(t, plain, signing{domain: "example.com", selector: "long", key: rsaKey()})
	if got := a.Authenticate(t.Context(), input("b@example.com", message)); verdicts(got) != "PASS PASS PASS" {
		t.Errorf("%+v", got)
	}
	for domain, want := range map[string]mailauth.Verdict{"ghost.np.test": mailauth.Fail, "real.np.test": mailauth.Gray} {
		message := strings.ReplaceAll(plain, "news@example.com", "x@"+domain)
		if got := a.Authenticate(t.Context(), input("b@example.com", message)); got.DMARC.Verdict() != want {
			t.Errorf("%s: %+v", domain, got.DMARC)
		}
	}
	// The standard library returns the second host together with an error about the first.
	z.Add(t, `mx.test. TXT "v=spf1 mx -all"`, `mx.test. MX 10 in\032valid.test.`, `mx.test. MX 20 in.mx.test.`, `in.mx.test. A 192.0.2.10`)
	if got := a.Authenticate(t.Context(), input("b@mx.test", message)); got.SPF.Verdict() != mailauth.Pass {
		t.Errorf("a malformed MX record: %+v", got.SPF)
	}
	z.Break("example.com", "_dmarc.example.com", "long._domainkey.example.com")
	if got := a.Authenticate(t.Context(), input("b@example.com", message)); verdicts(got) != "PROCESSING_FAILED PROCESSING_FAILED PROCESSING_FAILED" {
		t.Errorf("%+v", got)
	}
}

// TestRecords checks the resolver that other packages pass to package dmarc.
func TestRecords(t *testing.T) {
	t.Parallel()
	z := newZone(t)
	z.Add(t, `_dmarc.np.test. TXT "v=DMARC1; p=none; np=reject"`)
	for _, c := range []struct {
		existence verify.Existence
		limit     int
		policy    dmarc.Policy
		fails     bool
	}{{z, 4, dmarc.Reject, false}, {nil, 3, dmarc.None, false}, {z, 3, "", true}, {z, 2, "", true}} {
		r := verify.Records(mailauthtest.Resolver(z.Serve(t)), c.existence, c.limit)
		if d, err := dmarc.Discover(t.Context(), r, "ghost.np.test"); d.Policy != c.policy || (err != nil) != c.fails {
			t.Errorf("%d queries: %+v, %v", c.limit, d, err)
		}
	}
	r := verify.Records(z, z, 3)
	for range 3 {
		if d, err := dmarc.Discover(t.Context(), r, "a.example.com"); err != nil || d.Domain != "example.com" {
			t.Errorf("%+v, %v", d, err)
		}
	}
}

func TestDisabled(t *testing.T) {
	t.Parallel()
	if got := new(verify.Authenticator).Authenticate(t.Context(), input("b@example.com", plain)); verdicts(got) != "DISABLED DISABLED DISABLED" {
		t.Errorf("%+v", got)
	}
}

// stuck is a Resolver that answers only when its context ends.
type stuck struct{}

func (stuck) wait(ctx context.Context, name string) error {
	<-ctx.Done()
	return &net.DNSError{Err: "i/o timeout", Name: name, IsTimeout: true}
}

func (s stuck) LookupTXT(ctx context.Context, n string) ([]string, error) { return nil, s.wait(ctx, n) }
func (s stuck) LookupMX(ctx context.Context, n string) ([]*net.MX, error) { return nil, s.wait(ctx, n) }
func (s stuck) LookupIPAddr(ctx context.Context, n string) ([]net.IPAddr, error) {
	return nil, s.wait(ctx, n)
}

func (s stuck) LookupAddr(ctx context.Context, n string) ([]string, error) {
	return nil, s.wait(ctx, n)
}
func (s stuck) Exists(ctx context.Context, n string) (bool, error) { return false, s.wait(ctx, n) }

// TestTimeLimit runs in a bubble with a clock of its own, which advances when every
// goroutine waits.
func TestTimeLimit(t *testing.T) {
	t.Parallel()
	message := sign(t, plain, signing{domain: "example.com", selector: "ed", key: ed25519Key()})
	zone := newZone(t)
	synctest.Test(t, func(t *testing.T) {
		a := &verify.Authenticator{Resolver: stuck{}, Existence: stuck{}}
		start := core.SystemClock()
		if got := a.Authenticate(t.Context(), input("b@example.com", message)); verdicts(got) != "PROCESSING_FAILED PROCESSING_FAILED PROCESSING_FAILED" {
			t.Errorf("%+v", got)
		}
		if took := core.SystemClock().Sub(start); took != 10*time.Second {
			t.Errorf("after %s", took)
		}
	})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	a := &verify.Authenticator{Resolver: zone}
	if got := a.Authenticate(ended, input("b@example.com", message)); verdicts(got) != "PROCESSING_FAILED PROCESSING_FAILED PROCESSING_FAILED" {
		t.Errorf("after the end of the context: %+v", got)
	}
}

// slowSPF delays the queries of SPF until its context ends.
type slowSPF struct {
	*mailauthtest.Zone
	stuck stuck
}

func (s slowSPF) LookupTXT(ctx context.Context, name string) ([]string, error) {
	if name == "quiet.test." {
		return nil, s.stuck.wait(ctx, name)
	}
	return s.Zone.LookupTXT(ctx, name)
}

// TestSlowSPF checks that a sender whose name servers do not answer takes no time from DKIM
// and DMARC.
func TestSlowSPF(t *testing.T) {
	t.Parallel()
	message := sign(t, plain, signing{domain: "example.com", selector: "ed", key: ed25519Key()})
	zone := newZone(t)
	synctest.Test(t, func(t *testing.T) {
		a := &verify.Authenticator{Resolver: slowSPF{Zone: zone}}
		if got := a.Authenticate(t.Context(), input("b@quiet.test", message)); verdicts(got) != "PROCESSING_FAILED PASS PASS" {
			t.Errorf("%+v", got)
		}
	})
}

// panicking is a Resolver with a fault.
type panicking struct{ stuck }

func (panicking) LookupTXT(context.Context, string) ([]string, error) { panic("a fault") }

func TestPanic(t *testing.T) {
	t.Parallel()
	a := &verify.Authenticator{Resolver: panicking{}}
	if got := a.Authenticate(t.Context(), input("b@example.com", plain)); verdicts(got) != "PROCESSING_FAILED GRAY PROCESSING_FAILED" {
		t.Errorf("%+v", got)
	}
}

// broken is a message that cannot be read after its first part.
type broken struct {
	text string
	good int64
}

func (b broken) ReadAt(p []byte, offset int64) (int, error) {
	if offset+int64(len(p)) > b.good {
		return 0, errors.New("disk error")
	}
	return strings.NewReader(b.text).ReadAt(p, offset)
}

func TestUnreadableMessage(t *testing.T) {
	t.Parallel()
	message := sign(t, plain, signing{domain: "esp.test", selector: "ed", key: ed25519Key()})
	message = sign(t, message, signing{domain: "example.com", selector: "ed", key: ed25519Key()})
	in := input("b@quiet.test", message)
	in.Message = broken{text: message}
	if got := authenticate(t, newZone(t), in); verdicts(got) != "FAIL PROCESSING_FAILED PROCESSING_FAILED" {
		t.Errorf("no header: %+v", got)
	}
	// The body is longer than what is read at once.
	long := message + strings.Repeat("line\r\n", 100_000)
	in = input("b@quiet.test", long)
	in.Message = broken{text: long, good: 300_000}
	if got := authenticate(t, newZone(t), in); verdicts(got) != "FAIL PROCESSING_FAILED PROCESSING_FAILED" {
		t.Errorf("no body: %+v", got)
	}
	in = input("b@quiet.test", message)
	in.Size += 10
	if got := authenticate(t, newZone(t), in); verdicts(got) != "FAIL PROCESSING_FAILED PROCESSING_FAILED" {
		t.Errorf("shorter than stated: %+v", got)
	}
	in = input("b@example.com", "")
	in.Message = strings.NewReader("")
	if got := authenticate(t, newZone(t), in); verdicts(got) != "PASS GRAY PROCESSING_FAILED" {
		t.Errorf("empty: %+v", got)
	}
}
