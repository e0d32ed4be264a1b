package sources_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
)

// FuzzNames identifies rows with arbitrary names. The sender of the mail chooses most of
// them: keys must stay names of DNS or networks, and claims without a proof must not matter.
func FuzzNames(f *testing.F) {
	f.Add("bakery.example", "mail2026", "em.bakery.example", "SRS0=a=b=c=d@x.example", "198-18-7-7.isp.example", "arc=pass", true)
	f.Add("BÜCHER.example", "hs1-7", "..", "<>", "7.7.18.198.in-addr.arpa", "", false)
	f.Add("sendgrid.net.", "", "a@b@c", "@", "\xff", "x arc=passé", true)
	f.Add("co.uk", "*", "xn--a", "+srs=", "_dmarc.example", "arc=pass;", true)
	identifier := sources.New(bakery(), knownSenders())
	f.Fuzz(func(t *testing.T, signer, selector, mailFrom, sender, ptr, comment string, pass bool) {
		result := "fail"
		if pass {
			result = "pass"
		}
		e := sources.Evidence{
			IP: netip.MustParseAddr(ipUnknown), PTR: ptr, EnvelopeFrom: sender,
			DKIM:      []report.Signature{{Domain: signer, Selector: selector, Result: result}},
			SPF:       []report.SPFResult{{Domain: mailFrom, Result: result}},
			Overrides: []report.Reason{{Type: "local_policy", Comment: comment}},
		}
		got := identifier.Identify(e)
		kind, rest, _ := strings.Cut(got.Key, "/")
		if kind != "own" && kind != "sender" && kind != "forwarder" && kind != "net" || strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz0123456789.-_:/") != "" || len(got.Key) > 280 {
			t.Fatalf("the key is %q", got.Key)
		}
		e.DKIM = append(e.DKIM, report.Signature{Domain: signer, Selector: selector, Result: "fail"})
		if with := identifier.Identify(e); with != got {
			t.Fatalf("%+v with a claim, %+v without", with, got)
		}
		// What the identifier of a domain with this name does must be as safe.
		sources.New(sources.Domain{Name: signer, Organization: mailFrom, Selectors: []string{selector}}, nil).Identify(e)
	})
}

// FuzzExpand expands arbitrary records. The owners of included domains write them.
func FuzzExpand(f *testing.F) {
	f.Add("v=spf1 ip4:192.0.2.0/24 include:b.example -all", "v=spf1 -ip4:192.0.2.1 ip4:192.0.2.0/25 ~all")
	f.Add("v=spf1 redirect=b.example", "v=spf1 a:b.example/8//16 mx:b.example exists:%{i} ?all")
	f.Add("v=spf1 include:a.example include:b.example include:b.example", "v=spf1 redirect=a.example")
	f.Add("v=spf1 ip6:::/0 ip4:0.0.0.0/0 +all", "")
	f.Fuzz(func(t *testing.T, first, second string) {
		z := spfZone(map[string]string{"a.example": first, "b.example": second})
		z.addresses = map[string][]string{"b.example": {"192.0.2.4", "2001:db8::4"}}
		z.exchanges = map[string][]string{"b.example": {"b.example"}}
		got, err := sources.Expand(t.Context(), z, "a.example")
		if err != nil {
			if strings.Contains(first+second, "broken") {
				return
			}
			t.Fatal(err)
		}
		if len(z.asked) > 1+10*11 || len(got.Networks) > 4096 || len(got.Problems) > 64 {
			t.Fatalf("%d queries, %d networks, %d problems", len(z.asked), len(got.Networks), len(got.Problems))
		}
		for _, n := range got.Networks {
			if !n.Prefix.IsValid() || n.Prefix != n.Prefix.Masked() || len(n.Path) > 10 {
				t.Fatalf("the network is %+v", n)
			}
			for _, e := range n.Except {
				if !n.Prefix.Overlaps(e) || e.Bits() < n.Prefix.Bits() {
					t.Fatalf("%v is not in %v", e, n.Prefix)
				}
			}
		}
		z.asked = nil
		again, err := sources.Expand(t.Context(), z, "a.example")
		if diff := cmp.Diff(got, again, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); err != nil || diff != "" {
			t.Fatalf("a second expansion differs: %v\n%s", err, diff)
		}
		identifier := sources.New(sources.Domain{Name: "a.example", SPF: got}, sources.NewSenderNetworks([]sources.Expansion{got}))
		identifier.Identify(row(ipUnknown, "a.example", "none"))
	})
}
