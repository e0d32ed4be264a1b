package sources_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
)

// zone is a Resolver. Names that begin with "broken." fail.
type zone struct {
	txt       map[string][]string
	addresses map[string][]string
	exchanges map[string][]string
	asked     []string
}

var errDNS = errors.New("no name server answered")

func (z *zone) ask(kind, name string) error {
	z.asked = append(z.asked, kind+" "+name)
	if strings.HasPrefix(name, "broken.") {
		return errDNS
	}
	return nil
}

func (z *zone) TXT(_ context.Context, name string) ([]string, error) {
	return z.txt[name], z.ask("TXT", name)
}

func (z *zone) Addresses(_ context.Context, name string) ([]netip.Addr, error) {
	var found []netip.Addr
	for _, text := range z.addresses[name] {
		found = append(found, netip.MustParseAddr(text))
	}
	return found, z.ask("A", name)
}

func (z *zone) Exchanges(_ context.Context, name string) ([]string, error) {
	return z.exchanges[name], z.ask("MX", name)
}

func spfZone(records map[string]string) *zone {
	z := &zone{txt: map[string][]string{}}
	for name, record := range records {
		z.txt[name] = []string{record}
	}
	return z
}

// flat returns an expansion as lines, one for each network, then the rest.
func flat(e sources.Expansion) []string {
	var lines []string
	for _, n := range e.Networks {
		line := strings.TrimSpace(n.Prefix.String() + " " + strings.Join(n.Path, ">"))
		for _, except := range n.Except {
			line += " -" + except.String()
		}
		lines = append(lines, line)
	}
	for _, p := range e.Problems {
		lines = append(lines, p.Domain+": "+p.Text)
	}
	return append(lines, fmt.Sprintf("%s %d", e.All, e.Lookups))
}

const notValid = "b.example: a term of the record is not valid"

var expandCases = map[string]struct {
	zone *zone
	want []string
}{
	"networks of the record": {
		spfZone(map[string]string{"b.example": "v=spf1 ip4:192.0.2.7 IP4:198.51.100.9/24 ip6:2001:DB8::1/32 +ip6:2001:db8:ffff::1 -all"}),
		[]string{"192.0.2.7/32", "198.51.100.0/24", "2001:db8::/32", "2001:db8:ffff::1/128", "fail 0"},
	},
	"no record": {&zone{}, []string{"b.example: the name has no record", " 0"}},
	"other records": {
		&zone{txt: map[string][]string{"b.example": {"google-site-verification=x", "v=spf10 +all", "V=SPF1 ip4:192.0.2.1 ~all"}}},
		[]string{"192.0.2.1/32", "softfail 0"},
	},
	"several records": {
		&zone{txt: map[string][]string{"b.example": {"v=spf1 -all", "v=spf1 +all"}}},
		[]string{"b.example: the name has several records", " 0"},
	},
	"record without all": {spfZone(map[string]string{"b.example": "v=spf1"}), []string{"neutral 0"}},
	"terms after all":    {spfZone(map[string]string{"b.example": "v=spf1 ?all ip4:192.0.2.1 redirect=c.example"}), []string{"neutral 0"}},
	"every address": {
		spfZone(map[string]string{"b.example": "v=spf1 +all"}),
		[]string{"b.example: the record authorizes every address", "pass 0"},
	},
	"includes with the records on the way": {
		spfZone(map[string]string{
			"b.example": "v=spf1 include:P.example. ip4:192.0.2.1 -all", "p.example": "v=spf1 include:q.example ip4:192.0.2.2 ~all", "q.example": "v=spf1 ip4:192.0.2.3 -all",
		}),
		[]string{"192.0.2.3/32 p.example>q.example", "192.0.2.2/32 p.example", "192.0.2.1/32", "fail 2"},
	},
	"redirect": {
		spfZone(map[string]string{"b.example": "v=spf1 redirect=r.example ip4:192.0.2.1", "r.example": "v=spf1 ip4:192.0.2.2 -all"}),
		[]string{"192.0.2.1/32", "192.0.2.2/32 r.example", "fail 1"},
	},
	"addresses and mail servers": {
		&zone{
			txt:       map[string][]string{"b.example": {"v=spf1 a a:w.example/28//64 mx mx:m.example/31 -all"}},
			addresses: map[string][]string{"b.example": {"192.0.2.9"}, "w.example": {"198.51.100.99", "2001:db8::99"}, "mx1.example": {"192.0.2.77", "192.0.2.20"}, "mx2.example": {"192.0.2.21"}},
			exchanges: map[string][]string{"b.example": {"MX2.example.", "mx1.example", "not a name"}, "m.example": {"mx2.example", "mx1.example"}},
		},
		[]string{
			"192.0.2.9/32", "198.51.100.96/28", "2001:db8::/64", "192.0.2.20/32", "192.0.2.21/32", "192.0.2.77/32",
			"192.0.2.20/31", "192.0.2.76/31", "fail 4",
		},
	},
	"exclusions": {
		spfZone(map[string]string{
			"b.example": "v=spf1 -ip4:192.0.2.5 ip4:192.0.2.0/24 ip4:192.0.2.5 ~ip4:198.51.100.0/24 include:p.example ip4:203.0.113.0/24 -ip4:203.0.113.9 -all",
			"p.example": "v=spf1 -ip4:203.0.113.7 ip4:203.0.113.0/28 ip4:198.51.100.7 ip4:192.0.0.0/16 -all",
		}),
		[]string{"192.0.2.0/24 -192.0.2.5/32", "203.0.113.0/28 p.example -203.0.113.7/32", "192.0.0.0/16 p.example -192.0.2.5/32", "203.0.113.0/24", "fail 1"},
	},
	"loops": {
		spfZone(map[string]string{
			"b.example": "v=spf1 include:p.example include:p.example -all", "p.example": "v=spf1 ip4:192.0.2.1 include:q.example include:b.example -all", "q.example": "v=spf1 include:p.example -all",
		}),
		[]string{"192.0.2.1/32 p.example", "p.example: the record includes itself", "b.example: the record includes itself", "fail 5"},
	},
	"parts that depend on the message": {
		spfZone(map[string]string{"b.example": "v=spf1 exists:%{i}.x.example ptr include:%{d}.y.example a:%{i}.z.example ip4:192.0.2.1 -all"}),
		[]string{"192.0.2.1/32", "b.example: a term depends on the message", "fail 4"},
	},
	"includes that do not authorize": {
		spfZone(map[string]string{"b.example": "v=spf1 ?include:p.example -all", "p.example": "v=spf1 ip4:192.0.2.1 -all"}),
		[]string{"b.example: an include does not authorize", "fail 1"},
	},
	"terms that are not valid": {
		spfZone(map[string]string{"b.example": "v=spf1 ip4 ip4:x ip4:2001:db8::1 ip6:192.0.2.1 ip4:192.0.2.0/33 include include: all:x a/x a/33 a//129 mx/8/8 a: club exists redirect= unknown=ok empty= ip6:fe80::1%eth0 ip4:192.0.2.1 -all"}),
		[]string{"192.0.2.1/32", notValid, "fail 0"},
	},
	"a domain that is not a name": {
		spfZone(map[string]string{"b.example": "v=spf1 include:a..b -all"}), []string{notValid, "fail 1"},
	},
	"a record that is too long": {
		spfZone(map[string]string{"b.example": "v=spf1 " + strings.Repeat("ip4:192.0.2.1 ", 700)}), []string{"b.example: the record is too long", " 0"},
	},
}

func TestExpand(t *testing.T) {
	t.Parallel()
	for name, tc := range expandCases {
		got, err := sources.Expand(t.Context(), tc.zone, "B.example.")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(tc.want, flat(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestExpandFollowsTenLookups(t *testing.T) {
	t.Parallel()
	records := map[string]string{}
	for i := range 20 {
		records[fmt.Sprintf("n%d.example", i)] = fmt.Sprintf("v=spf1 ip4:192.0.2.%d include:n%d.example -all", i, i+1)
	}
	z := spfZone(records)
	got, err := sources.Expand(t.Context(), z, "n0.example")
	if err != nil {
		t.Fatal(err)
	}
	if len(z.asked) != 11 || got.Lookups != 11 || len(got.Networks) != 11 {
		t.Errorf("%d queries, %d lookups, %d networks", len(z.asked), got.Lookups, len(got.Networks))
	}
	if want := (sources.Problem{Domain: "n10.example", Text: "the record needs more than 10 lookups"}); !slices.Contains(got.Problems, want) {
		t.Errorf("the problems are %v", got.Problems)
	}
}

func TestExpandLimitsMailServers(t *testing.T) {
	t.Parallel()
	z := spfZone(map[string]string{"b.example": "v=spf1 mx -all"})
	z.exchanges, z.addresses = map[string][]string{}, map[string][]string{}
	for i := range 15 {
		host := fmt.Sprintf("mx%02d.example", i)
		z.exchanges["b.example"] = append(z.exchanges["b.example"], host)
		z.addresses[host] = []string{fmt.Sprintf("192.0.2.%d", i)}
	}
	got, err := sources.Expand(t.Context(), z, "b.example")
	if err != nil || len(got.Networks) != 10 || len(got.Problems) != 1 {
		t.Errorf("%d networks, problems %v, error %v", len(got.Networks), got.Problems, err)
	}
}

func TestExpandFailsWithDNS(t *testing.T) {
	t.Parallel()
	for _, record := range []string{"include:broken.example", "a:broken.example", "mx:broken.example", "redirect=broken.example", "include:c.example"} {
		z := spfZone(map[string]string{"b.example": "v=spf1 ip4:192.0.2.1 " + record, "c.example": "v=spf1 a:broken.example -all"})
		if got, err := sources.Expand(t.Context(), z, "b.example"); !errors.Is(err, errDNS) || got.Networks != nil {
			t.Errorf("%s: %v, error %v", record, got.Networks, err)
		}
	}
	if _, err := sources.Expand(t.Context(), &zone{}, "not a name"); err == nil {
		t.Error("a text that is no name is expanded")
	}
}

// TestExpandedRecordIdentifies checks the way from a record to a source.
func TestExpandedRecordIdentifies(t *testing.T) {
	t.Parallel()
	z := spfZone(map[string]string{
		"bakery.example":  "v=spf1 ip4:198.51.100.1 -ip4:203.0.113.9 include:sendgrid.net ip4:0.0.0.0/1 ip6:2000::/3 ip4:172.0.0.0/8 ip6:3fff::/16 -all",
		"sendgrid.net":    "v=spf1 ip4:203.0.113.0/24 include:ab.sendgrid.net ~all",
		"ab.sendgrid.net": "v=spf1 ip4:203.0.113.128/25 ip6:2001:db8::/32 ~all",
	})
	expansion, err := sources.Expand(t.Context(), z, bakeryName)
	if err != nil {
		t.Fatal(err)
	}
	identifier := sources.New(sources.Domain{Name: bakeryName, SPF: expansion}, nil)
	for ip, want := range map[string]string{
		"198.51.100.1":  "own",
		"203.0.113.8":   "sender/sendgrid.net",
		"203.0.113.200": "sender/sendgrid.net",
		"2001:db8::1":   "sender/sendgrid.net",
		"203.0.113.9":   "net/203.0.113.0/24", // excluded before the include
		"9.9.9.9":       "net/9.9.9.0/24",     // half of the Internet is not a sender
		"2a00::1":       "net/2a00::/48",
		"172.16.0.1":    "own", // a network of the greatest width
		"173.16.0.1":    "net/173.16.0.0/24",
		"3fff::1":       "own",
	} {
		if got := identifier.Identify(row(ip, bakeryName, "none")); got.Key != want {
			t.Errorf("%s is %s, want %s", ip, got.Key, want)
		}
	}
}
