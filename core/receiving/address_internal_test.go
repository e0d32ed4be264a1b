package receiving

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
)

// FuzzAddresses checks local parts and recipients of any form. A chosen local part is stored in
// the form in which the router finds it, with the domain in any case; it never looks like a
// generated one and has no wildcard. A recipient gets the route of its own domain or none.
func FuzzAddresses(f *testing.F) {
	for _, seed := range [][2]string{
		{"Order-1043", "order-1043@in.example.com"},
		{"a-x", "a@b@in.example.com"},
		{"A-x", "@in.example.com"},
		{"x+y", "x+y@IN.EXAMPLE.COM."},
		{`"a b"`, `"a@in.example.com"@evil.test`},
		{"*", "x@in.example.com.evil.test"},
		{"a..b", "x@evil.in.example.com"},
		{"İ", "x@ın.example.com"},
		{strings.Repeat("x", 65), "x@in。example。com"},
		{"a@b", "x@in.example.com\x00"},
		{"", "in.example.com"},
	} {
		f.Add(seed[0], seed[1])
	}
	const domain = "in.example.com"
	r := NewRouter(nil, func() time.Time { return time.Unix(0, 0) }, nil)
	r.entries = map[string]RouteEntry{domain: {Target: Target{OrgID: "org", DomainID: "d"}, Name: domain}}
	f.Fuzz(func(t *testing.T, local, recipient string) {
		if stored, err := checkLocalPart(local); err == nil {
			for _, spelling := range []string{stored + "@" + domain, strings.ToUpper(stored) + "@IN.Example.COM", local + "@" + domain} {
				route, refusal, err := r.Route(t.Context(), spelling)
				if err != nil || refusal != inbound.Accepted || route.LocalPart != stored || route.Domain != domain {
					t.Errorf("%q is stored as %q, and %q has the route %+v %v, %v", local, stored, spelling, route, refusal, err)
				}
			}
			if strings.HasPrefix(stored, mintedPrefix) || strings.ContainsAny(stored, "*?@") || strings.ContainsFunc(stored, unicode.IsSpace) || !Match(stored, stored) {
				t.Errorf("%q is stored as %q", local, stored)
			}
			if again, err := checkLocalPart(stored); err != nil || again != stored {
				t.Errorf("%q is stored as %q, and that as %q, %v", local, stored, again, err)
			}
		} else if core.AsError(err).Code != core.CodeValidationFailed {
			t.Errorf("%q: %v", local, err)
		}
		route, refusal, err := r.Route(t.Context(), recipient)
		at := strings.LastIndexByte(recipient, '@')
		switch {
		case err != nil:
			t.Errorf("%q: %v", recipient, err)
		case refusal == inbound.Accepted && (at < 1 || route.OrgID != "org" || route.LocalPart != strings.ToLower(recipient[:at]) || route.Recipient != recipient):
			t.Errorf("%q has the route %+v", recipient, route)
		case refusal != inbound.Accepted && at > 0 && strings.EqualFold(recipient[at+1:], domain):
			t.Errorf("%q has no route", recipient)
		}
	})
}
