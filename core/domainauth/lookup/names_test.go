package lookup_test

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/domainauth/domainauthtest"
	"github.com/mailhelm/mailhelm/core/domainauth/lookup"
	"github.com/mailhelm/mailhelm/core/domainauth/resolver"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
	"github.com/mailhelm/mailhelm/core/mailauth/mailauthtest"
)

func contextOf(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithCancel(t.Context())
}

func ips(texts ...string) []netip.Addr {
	var all []netip.Addr
	for _, text := range texts {
		all = append(all, netip.MustParseAddr(text))
	}
	return all
}

func TestReverseNames(t *testing.T) {
	t.Parallel()
	zone := mailauthtest.NewZone(t,
		`1.2.0.192.in-addr.arpa. PTR MX1.Mailer.example.`, `mx1.mailer.example. A 192.0.2.1`,
		// The owner of an address states any name; that of the name does not agree.
		`2.2.0.192.in-addr.arpa. PTR mail.bank.example.`, `mail.bank.example. A 198.51.100.1`,
		`3.2.0.192.in-addr.arpa. PTR z.mailer.example.`, `3.2.0.192.in-addr.arpa. PTR y.mailer.example.`,
		`z.mailer.example. A 192.0.2.3`, `y.mailer.example. A 192.0.2.3`,
		`4.2.0.192.in-addr.arpa. PTR slow.mailer.example.`, `slow.mailer.example. A 192.0.2.4`,
		`1.0.0.10.in-addr.arpa. PTR inside.example.`, `inside.example. A 10.0.0.1`,
		`1.0.0.127.in-addr.arpa. PTR localhost.`, `localhost. A 127.0.0.1`,
	)
	zone.Break("slow.mailer.example")
	c := domainauthtest.NewClock(start)
	reverse := lookup.NewReverse(resolver.New(zone, zone), c.Now)
	asked := ips("192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5", "10.0.0.1", "127.0.0.1")
	want := map[netip.Addr]string{asked[0]: "mx1.mailer.example", asked[1]: "mx1.mailer.example", asked[3]: "y.mailer.example"}
	compare := func(when string, want map[netip.Addr]string) {
		t.Helper()
		if d := cmp.Diff(want, reverse.ReverseNames(t.Context(), asked), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); d != "" {
			t.Errorf("%s: %s", when, d)
		}
	}
	compare("first", want)
	queries := zone.Queries("")
	compare("remembered", want)
	if n := zone.Queries(""); n != queries {
		t.Errorf("%d queries for what is remembered", n-queries)
	}
	if zone.Queries("1.0.0.10.in-addr.arpa") > 0 || zone.Queries("1.0.0.127.in-addr.arpa") > 0 {
		t.Error("asked about a private address")
	}
	zone.Mend()
	c.Advance(11 * time.Minute)
	want[asked[4]] = "slow.mailer.example"
	compare("after a failure", want)
	zone.Add(t, `5.2.0.192.in-addr.arpa. PTR late.mailer.example.`, `late.mailer.example. A 192.0.2.5`)
	compare("a missing name is remembered", want)
	c.Advance(7 * time.Hour)
	want[asked[5]] = "late.mailer.example"
	compare("hours later", want)
}

// TestReverseNamesAreBounded checks that a report with many addresses causes a bounded number of
// queries.
func TestReverseNamesAreBounded(t *testing.T) {
	t.Parallel()
	zone := mailauthtest.NewZone(t)
	reverse := lookup.NewReverse(resolver.New(zone, zone), func() time.Time { return start })
	var many []netip.Addr
	for i := range 3000 {
		many = append(many, netip.AddrFrom4([4]byte{198, 51, byte(i / 256), byte(i)}))
	}
	if found := reverse.ReverseNames(t.Context(), many); len(found) > 0 || zone.Queries("") != 1000 {
		t.Errorf("%d names with %d queries", len(found), zone.Queries(""))
	}
	reverse.ReverseNames(t.Context(), many)
	if n := zone.Queries(""); n != 2000 {
		t.Errorf("%d queries after the second call, want the next 1,000 addresses", n)
	}
	ctx, cancel := contextOf(t)
	cancel()
	reverse.ReverseNames(ctx, many)
	if n := zone.Queries(""); n != 2000 {
		t.Errorf("%d queries after the end of the context", n)
	}
}

// TestReverseNameHasFewNames checks that an address with many names causes few queries.
func TestReverseNameHasFewNames(t *testing.T) {
	t.Parallel()
	zone := mailauthtest.NewZone(t)
	for i := range 100 {
		zone.Add(t, fmt.Sprintf(`1.2.0.192.in-addr.arpa. PTR h%d.example.`, i))
	}
	lookup.NewReverse(resolver.New(zone, zone), func() time.Time { return start }).ReverseNames(t.Context(), ips("192.0.2.1"))
	if n := zone.Queries(""); n > 6 {
		t.Errorf("%d queries", n)
	}
}

// senderOf returns the key of the source of a row from an address, with the networks.
func senderOf(networks *sources.SenderNetworks, ip string) string {
	d := sources.Domain{Name: "bakery.example"}
	e := sources.Evidence{IP: netip.MustParseAddr(ip), DKIMAligned: false, EnvelopeFrom: "other.example"}
	return sources.New(d, networks).Identify(e).Key
}

func TestSenders(t *testing.T) {
	t.Parallel()
	zone := mailauthtest.NewZone(t)
	records := sources.SenderRecords()
	for i, name := range records {
		zone.AddTXT(name, fmt.Sprintf("v=spf1 ip4:198.51.%d.0/24 -all", i))
	}
	zone.Break(records[1])
	c := domainauthtest.NewClock(start)
	senders := lookup.NewSenders(resolver.New(zone, zone), c.Now)
	senders.Refresh(t.Context())
	if n := zone.Queries(""); n > 0 {
		t.Errorf("%d queries before the networks are needed", n)
	}
	var calls sync.WaitGroup
	for range 5 {
		calls.Go(func() { senders.Networks(t.Context()) })
	}
	calls.Wait()
	if n := zone.Queries(""); n != len(records) {
		t.Errorf("%d queries of five first calls, want %d", n, len(records))
	}
	const unknown, known = "net/198.51.1.0/24", "198.51.1.9"
	first := senderOf(senders.Networks(t.Context()), "198.51.0.9")
	if first == "net/198.51.0.0/24" || senderOf(senders.Networks(t.Context()), known) != unknown {
		t.Errorf("%s, %s", first, senderOf(senders.Networks(t.Context()), known))
	}
	zone.Mend()
	senders.Refresh(t.Context())
	if n := zone.Queries(""); n != len(records) {
		t.Errorf("asked again at once: %d queries", n)
	}
	c.Advance(31 * time.Minute)
	ctx, cancel := contextOf(t)
	ticks := make(chan time.Time)
	var following sync.WaitGroup
	following.Go(func() { senders.Follow(ctx, ticks) })
	ticks <- start
	ticks <- start // is taken after the first refresh
	cancel()
	following.Wait()
	if n := zone.Queries(""); n != len(records)+1 || senderOf(senders.Networks(t.Context()), known) == unknown {
		t.Errorf("%d queries; the failed record was not asked for again", n)
	}
	zone.Break(records...)
	c.Advance(30 * time.Hour)
	senders.Refresh(t.Context())
	if n := zone.Queries(""); n != 2*len(records)+1 || senderOf(senders.Networks(t.Context()), "198.51.0.9") != first {
		t.Errorf("%d queries; the networks changed while DNS failed", n)
	}
}

// TestSendersAreSpread checks that records are asked for at different times of the day, each
// once in 20 to 28 hours.
func TestSendersAreSpread(t *testing.T) {
	t.Parallel()
	zone := mailauthtest.NewZone(t)
	c := domainauthtest.NewClock(start)
	senders := lookup.NewSenders(resolver.New(zone, zone), c.Now)
	senders.Networks(t.Context())
	all, before := len(sources.SenderRecords()), zone.Queries("")
	if before != all {
		t.Fatalf("%d queries, %d records", before, all)
	}
	most := 0
	for range 28 {
		c.Advance(time.Hour)
		senders.Refresh(t.Context())
		most, before = max(most, zone.Queries("")-before), zone.Queries("")
	}
	if before != 2*all || most > all/2 {
		t.Errorf("%d queries in 28 hours for %d records, %d of them in one hour", before-all, all, most)
	}
}
