package verify_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/mailauth"
)

func TestSPF(t *testing.T) {
	t.Parallel()
	z := newZone(t)
	z.Break("broken.test")
	z.Add(t,
		`mx.test. TXT "v=spf1 mx -all"`, `mx.test. MX 10 in.mx.test.`, `in.mx.test. A 192.0.2.10`,
		`ptr.test. TXT "v=spf1 ptr -all"`, `10.2.0.192.in-addr.arpa. PTR out.ptr.test.`, `out.ptr.test. A 192.0.2.10`,
		`macro.test. TXT "v=spf1 exists:%{l}.%{i}.allow.test -all"`, `b.192.0.2.10.allow.test. A 127.0.0.2`,
		`xn--bcher-kva.test. TXT "v=spf1 +all"`, `v6.test. TXT "v=spf1 ip6:2001:db8::/32 -all"`,
		`mx.example.com. TXT "v=spf1 a -all"`, `mx.example.com. A 192.0.2.10`,
	)
	for _, c := range []struct {
		mailFrom, ip, helo string
		outcome            mailauth.Outcome
		domain             string
	}{
		{"b@example.com", "", "", "pass", "example.com"},
		{"b@example.com", "::ffff:192.0.2.10", "", "pass", "example.com"},
		{"b@example.com", "192.0.2.11", "", "fail", "example.com"},
		{"b@EXAMPLE.com", "", "", "pass", "example.com"},
		{"b@soft.test", "", "", "softfail", "soft.test"},
		{"b@neutral.test", "", "", "neutral", "neutral.test"},
		{"b@nospf.test", "", "", "none", "nospf.test"},
		{"b@none.test", "", "", "none", "none.test"},
		{"b@bad.test", "", "", "permerror", "bad.test"},
		{"b@twice.test", "", "", "permerror", "twice.test"},
		{"b@broken.test", "", "", "temperror", "broken.test"},
		{"b@mx.test", "", "", "pass", "mx.test"},
		{"b@ptr.test", "", "", "pass", "ptr.test"},
		{"b@macro.test", "", "", "pass", "macro.test"},
		{"c@macro.test", "", "", "fail", "macro.test"},
		{"b@bücher.test", "", "", "pass", "xn--bcher-kva.test"},
		{"b@v6.test", "2001:db8::1", "", "pass", "v6.test"},
		{"b@v6.test", "2001:db9::1", "", "fail", "v6.test"},
		{"b@[192.0.2.10]", "", "", "none", ""},
		{"postmaster", "", "", "none", ""},
		{`"x@esp.test"@example.com`, "", "", "permerror", "example.com"},
		{"", "", "mx.example.com", "pass", "mx.example.com"},
		{"", "", "[192.0.2.10]", "none", ""},
		{"", "", "", "none", ""},
		{"b@example.com", "-", "", "permerror", "example.com"},
	} {
		in := input(c.mailFrom, plain)
		in.Helo = c.helo
		switch c.ip {
		case "":
		case "-":
			in.RemoteIP = netip.Addr{}
		default:
			in.RemoteIP = netip.MustParseAddr(c.ip)
		}
		got := authenticate(t, z, in).SPF
		identity := mailauth.IdentityMailFrom
		if c.mailFrom == "" {
			identity = mailauth.IdentityHelo
		}
		if got.Outcome != c.outcome || got.Domain != c.domain || got.Identity != identity {
			t.Errorf("%s from %s: %+v", c.mailFrom, c.ip, got)
		}
		if unexplained := c.outcome != "pass" && c.outcome != "none" && got.Reason == ""; unexplained {
			t.Errorf("%s: no reason", c.mailFrom)
		}
	}
}

// TestSPFLimits has records that ask for too many queries.
func TestSPFLimits(t *testing.T) {
	t.Parallel()
	z := newZone(t)
	z.Add(t, `loop.test. TXT "v=spf1 include:loop.test -all"`)
	var terms []string
	for i := range 9 {
		terms = append(terms, fmt.Sprintf("mx:m%d.test", i))
		for host := range 9 {
			z.Add(t, fmt.Sprintf("m%d.test. MX 10 h%d.m%d.test.", i, host, i), fmt.Sprintf("h%d.m%d.test. A 198.51.100.1", host, i))
		}
	}
	z.Add(t, `many.test. TXT "v=spf1 `+strings.Join(terms, " ")+` -all"`)
	for domain, want := range map[string]mailauth.Outcome{"loop.test": "permerror", "many.test": "temperror"} {
		before := z.Queries("")
		if got := authenticate(t, z, input("b@"+domain, plain)).SPF; got.Outcome != want {
			t.Errorf("%s: %+v", domain, got)
		}
		if made := z.Queries("") - before; made > 60 {
			t.Errorf("%s: %d queries", domain, made)
		}
	}
}
