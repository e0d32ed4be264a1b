package sources

import (
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func drawPrefix(t *rapid.T) netip.Prefix {
	bits := rapid.IntRange(6, 32).Draw(t, "bits")
	octets := [4]byte{192, 0, byte(rapid.IntRange(0, 3).Draw(t, "c")), byte(rapid.IntRange(0, 7).Draw(t, "d"))}
	return netip.PrefixFrom(netip.AddrFrom4(octets), bits)
}

func drawNetwork(t *rapid.T) Network {
	return Network{
		Prefix: drawPrefix(t),
		Path:   rapid.SliceOfN(rapid.SampledFrom([]string{"a.example", "b.example"}), 0, 2).Draw(t, "path"),
		Except: rapid.SliceOfN(rapid.Custom(drawPrefix), 0, 1).Draw(t, "except"),
	}
}

// TestFind compares find with a loop over all networks.
func TestFind(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(drawNetwork), 0, 12).Draw(t, "networks")
		ip := drawPrefix(t).Addr()
		var want *Network
		for i := range all {
			n := &all[i]
			if n.Prefix.Bits() < widest4 || !n.Prefix.Contains(ip) || slices.ContainsFunc(n.Except, func(e netip.Prefix) bool { return e.Contains(ip) }) {
				continue
			}
			if want == nil || n.Prefix.Bits() > want.Prefix.Bits() || n.Prefix.Bits() == want.Prefix.Bits() && len(n.Path) < len(want.Path) {
				want = n
			}
		}
		built := newNetworks(all)
		at, found := built.find(ip)
		if found != (want != nil) {
			t.Fatalf("found %t", found)
		}
		if found && (built.listed[at].Prefix != want.Prefix.Masked() || !slices.Equal(built.listed[at].Path, want.Path)) {
			t.Fatalf("%v, want %v", built.listed[at], *want)
		}
	})
}

func TestFindWithoutAddress(t *testing.T) {
	t.Parallel()
	built := newNetworks([]Network{{Prefix: netip.MustParsePrefix("192.0.2.0/24")}, {}})
	if _, found := built.find(netip.Addr{}); found || len(built.listed) != 1 {
		t.Errorf("found %t in %v", found, built.listed)
	}
}

// TestSenderNetworks checks whose a network is that the records of several senders have: of
// the last one on the path.
func TestSenderNetworks(t *testing.T) {
	t.Parallel()
	shared := netip.MustParsePrefix("192.0.2.0/24")
	expansions := []Expansion{
		{Domain: "email.freshdesk.com", Networks: []Network{{Prefix: shared, Path: []string{"sendgrid.net"}}, {Prefix: netip.MustParsePrefix("198.51.100.0/24")}}},
		{Domain: "spf.stranger.example", Networks: []Network{{Prefix: netip.MustParsePrefix("203.0.113.0/24")}}},
		{Domain: "sendgrid.net", Networks: []Network{{Prefix: shared}}},
	}
	for range 2 {
		senders := NewSenderNetworks(expansions)
		for ip, want := range map[string]string{"192.0.2.1": "sendgrid", "198.51.100.1": "freshdesk", "203.0.113.1": ""} {
			if got := ofSender(senders.find(netip.MustParseAddr(ip))).provider(); got != want {
				t.Errorf("%s is of %q, want %q", ip, got, want)
			}
		}
		slices.Reverse(expansions)
	}
}

func TestSenderRecords(t *testing.T) {
	t.Parallel()
	records := SenderRecords()
	if !slices.IsSorted(records) || !slices.Contains(records, "_spf.google.com") || slices.Contains(records, "google.com") {
		t.Errorf("the records are %v", records)
	}
}
