package lookup_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/mailhelm/mailhelm/core/domainauth/lookup"
	"github.com/mailhelm/mailhelm/core/domainauth/resolver"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
	"github.com/mailhelm/mailhelm/core/mailauth/mailauthtest"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// bakery is a domain below an organizational domain. Its DMARC record sends reports to another
// organization, which agrees; one of its keys is an alias, one a text, one is missing.
var bakery = lookup.Domain{
	Name: "shop.bakery.example",
	Keys: []string{"one._domainkey.bakery.example", "two._domainkey.bakery.example", "three._domainkey.bakery.example"},
}

func bakeryZone(t testing.TB) *mailauthtest.Zone {
	return mailauthtest.NewZone(t,
		`shop.bakery.example. TXT "some other text"`,
		`shop.bakery.example. TXT "v=spf1 include:_spf.mailer.example mx -all"`,
		`shop.bakery.example. MX 10 in.bakery.example.`,
		`in.bakery.example. A 192.0.2.7`,
		`_spf.mailer.example. TXT "v=spf1 ip4:198.51.100.0/24 ~all"`,
		`_dmarc.shop.bakery.example. TXT "v=DMARC1; p=quarantine; rua=mailto:r@reports.example,mailto:own@bakery.example"`,
		`_dmarc.bakery.example. TXT "v=DMARC1; p=none; sp=reject"`,
		`shop.bakery.example._report._dmarc.reports.example. TXT "v=DMARC1"`,
		`one._domainkey.bakery.example. CNAME one.dkim.mailer.example.`,
		`two._domainkey.bakery.example. TXT "v=DKIM1; p=MIIB"`,
	)
}

func look(t testing.TB, zone *mailauthtest.Zone, d lookup.Domain, previous lookup.Snapshot, now time.Time) lookup.Snapshot {
	t.Helper()
	return lookup.Look(t.Context(), resolver.New(zone, zone), d, previous, now)
}

// brief returns the records of a snapshot, one a line.
func brief(s lookup.Snapshot) []string {
	var all []string
	for _, r := range s.Records {
		text := "none"
		if r.Text != nil {
			text = *r.Text
		}
		all = append(all, fmt.Sprintf("%s %s %s fresh=%v several=%v: %s", r.Kind, r.Name, r.Type, r.Fresh, r.Several, text))
	}
	return all
}

func TestLook(t *testing.T) {
	t.Parallel()
	s := look(t, bakeryZone(t), bakery, lookup.Snapshot{}, start)
	want := []string{
		"policy_change _dmarc.shop.bakery.example TXT fresh=true several=false: v=DMARC1; p=quarantine; rua=mailto:r@reports.example,mailto:own@bakery.example",
		"setup_change shop.bakery.example TXT fresh=true several=false: v=spf1 include:_spf.mailer.example mx -all",
		"setup_change one._domainkey.bakery.example CNAME fresh=true several=false: one.dkim.mailer.example",
		"setup_change two._domainkey.bakery.example TXT fresh=true several=false: v=DKIM1; p=MIIB",
		"setup_change three._domainkey.bakery.example CNAME fresh=true several=false: none",
	}
	if d := cmp.Diff(want, brief(s)); d != "" {
		t.Error(d)
	}
	if !s.IsFresh() || !s.At.Equal(start) || s.Discovery.Policy != dmarc.Quarantine || s.Discovery.Organization != "bakery.example" {
		t.Errorf("fresh %v, discovery %+v", s.IsFresh(), s.Discovery)
	}
	if len(s.Destinations) != 2 || s.Destinations[0].Consent != dmarc.ConsentGiven || s.Destinations[1].Consent != dmarc.ConsentUnneeded {
		t.Errorf("destinations %+v", s.Destinations)
	}
	if len(s.SPF.Networks) != 2 || s.SPF.All != sources.Fail {
		t.Errorf("SPF %+v", s.SPF)
	}
	if d := cmp.Diff([]string{"one", "two", "three"}, s.Selectors); d != "" {
		t.Error(d)
	}
	stored, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var read lookup.Snapshot
	if err := json.Unmarshal(stored, &read); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(s, read, cmpopts.EquateEmpty(), cmpopts.EquateComparable(sources.Network{}.Prefix)); d != "" {
		t.Errorf("read back: %s", d)
	}
}

// names are all names that a look at the bakery asks for.
var names = []string{
	"_dmarc.shop.bakery.example", "_dmarc.bakery.example", "_dmarc.example", "shop.bakery.example", "_spf.mailer.example", "in.bakery.example",
	"_dmarc.reports.example", "shop.bakery.example._report._dmarc.reports.example",
	"one._domainkey.bakery.example", "two._domainkey.bakery.example", "three._domainkey.bakery.example",
}

// TestFailureIsNoAbsence breaks every name by itself, and all together: the snapshot keeps what
// was known, and says that it is not fresh.
func TestFailureIsNoAbsence(t *testing.T) {
	t.Parallel()
	zone := bakeryZone(t)
	first := look(t, zone, bakery, lookup.Snapshot{}, start)
	for i := range len(names) + 1 {
		broken := names
		if i < len(names) {
			broken = names[i : i+1]
		}
		zone.Break(broken...)
		next := look(t, zone, bakery, first, start.Add(time.Hour))
		if next.IsFresh() {
			t.Errorf("%v: fresh", broken)
		}
		ignored := cmp.Options{
			cmpopts.IgnoreFields(lookup.Snapshot{}, "LookedAt", "At", "SPFAt", "DestinationsAt"), cmpopts.IgnoreFields(lookup.Record{}, "Fresh"),
			cmpopts.EquateComparable(sources.Network{}.Prefix),
		}
		if d := cmp.Diff(first, next, ignored); d != "" {
			t.Errorf("%v: %s", broken, d)
		}
		if again := look(t, zone, bakery, next, start.Add(2*time.Hour)); !cmp.Equal(next, again, ignored) {
			t.Errorf("%v: the second failure changed the snapshot", broken)
		}
		zone.Mend()
		if mended := look(t, zone, bakery, next, start.Add(3*time.Hour)); !mended.IsFresh() || !cmp.Equal(first, mended, ignored) {
			t.Errorf("%v: not as before when DNS answers again", broken)
		}
	}
}

// TestNeverAnswered checks that a first look without an answer states nothing.
func TestNeverAnswered(t *testing.T) {
	t.Parallel()
	zone := bakeryZone(t)
	zone.Break(names...)
	s := look(t, zone, bakery, lookup.Snapshot{}, start)
	if len(s.Records) > 0 || !s.At.IsZero() || s.IsFresh() || s.Discovery.Author != "" || s.SPF.Domain != "" {
		t.Errorf("%+v", s)
	}
}

// TestConsentStays checks that a failure keeps the consent of destinations that the record still
// names, and that a new destination is not known.
func TestConsentStays(t *testing.T) {
	t.Parallel()
	zone := bakeryZone(t)
	first := look(t, zone, bakery, lookup.Snapshot{}, start)
	zone.Break("_dmarc.reports.example", "_dmarc.new.example")
	zone.SetTXT("_dmarc.shop.bakery.example", "v=DMARC1; p=reject; rua=mailto:new@new.example,mailto:r@reports.example")
	s := look(t, zone, bakery, first, start.Add(time.Hour))
	if len(s.Destinations) != 2 || s.Destinations[0].Consent != "" || s.Destinations[1].Consent != dmarc.ConsentGiven || s.Discovery.Policy != dmarc.Reject {
		t.Errorf("%+v", s.Destinations)
	}
	if s.DestinationsAt.Equal(s.LookedAt) || !s.At.Equal(s.LookedAt) {
		t.Error("the destinations are fresh, or the record is not")
	}
}

// TestInheritedRecord checks that the record of the organization is followed where the domain
// has none, and that a second record counts as none.
func TestInheritedRecord(t *testing.T) {
	t.Parallel()
	zone := bakeryZone(t)
	zone.SetTXT("_dmarc.shop.bakery.example")
	zone.AddTXT("shop.bakery.example", "V=SPF1 +all")
	s := look(t, zone, lookup.Domain{Name: bakery.Name}, lookup.Snapshot{}, start)
	want := []string{
		"policy_change _dmarc.shop.bakery.example TXT fresh=true several=false: none",
		"policy_change _dmarc.bakery.example TXT fresh=true several=false: v=DMARC1; p=none; sp=reject",
		"setup_change shop.bakery.example TXT fresh=true several=true: none",
	}
	if d := cmp.Diff(want, brief(s)); d != "" {
		t.Error(d)
	}
}

// TestLookIsBounded checks the number of queries about the largest records, and that what is
// stored of them is bounded and valid text.
func TestLookIsBounded(t *testing.T) {
	t.Parallel()
	zone := mailauthtest.NewZone(t)
	var uris, excluded []string
	for i := range 50 {
		uris = append(uris, fmt.Sprintf("mailto:r@a.b.c.d.e.f.g.h%d.example", i))
		excluded = append(excluded, fmt.Sprintf("-ip4:10.0.%d.0/24", i))
	}
	zone.AddTXT("_dmarc.big.example", "v=DMARC1; p=none; rua="+strings.Join(uris, ",")+"; x=\x00\xff"+strings.Repeat("y", 9000))
	record := "v=spf1 " + strings.Join(excluded, " ")
	for i := range 10 {
		zone.AddTXT(fmt.Sprintf("i%d.example", i), "v=spf1"+strings.Repeat(" ip4:0.0.0.0/0", 550))
		record += fmt.Sprintf(" include:i%d.example", i)
	}
	zone.AddTXT("big.example", record)
	s := look(t, zone, lookup.Domain{Name: "big.example", Keys: make([]string, 100)}, lookup.Snapshot{}, start)
	if n := zone.Queries(""); n > 400 {
		t.Errorf("%d queries", n)
	}
	stored, err := json.Marshal(s)
	if err != nil || len(stored) > 1<<20 {
		t.Errorf("%d octets, %v", len(stored), err)
	}
	if text := *s.Records[0].Text; len(text) > 3*8<<10 || !strings.Contains(text, "x=\uFFFD\uFFFDy") {
		t.Errorf("record of %d octets", len(text))
	}
	if len(s.SPF.Problems) == 0 || len(s.SPF.Networks) == 0 {
		t.Error("the networks were not cut")
	}
}

// TestEndOfContextKeepsAll checks that a server that stops changes nothing.
func TestEndOfContextKeepsAll(t *testing.T) {
	t.Parallel()
	zone := bakeryZone(t)
	first := look(t, zone, bakery, lookup.Snapshot{}, start)
	ctx, cancel := contextOf(t)
	cancel()
	next := lookup.Look(ctx, resolver.New(zone, zone), bakery, first, start.Add(time.Hour))
	if next.IsFresh() || !next.At.Equal(start) || len(next.Records) != len(first.Records) {
		t.Errorf("%+v", next)
	}
}
