package sources

import (
	"cmp"
	"net/netip"
	"slices"
	"sort"
)

// The widest networks that say something about an address. Wider ones, such as 0.0.0.0/1,
// authorize the Internet and not a sender.
const (
	widest4 = 8
	widest6 = 16
)

// networks finds the network of an address. Of several that contain it, the smallest counts,
// then the one with the shortest path, then the first of the record.
type networks struct {
	// listed is sorted, so that each network follows those that contain it. Among equal ones
	// the preferred is last.
	listed []Network
	// outer has, for each network, the index of the next one that contains it, or -1.
	outer []int
}

func newNetworks(all []Network) *networks {
	n := &networks{}
	for _, network := range all {
		prefix := network.Prefix
		if !prefix.IsValid() || prefix.Bits() < widest6 && (prefix.Bits() < widest4 || !prefix.Addr().Is4()) {
			continue
		}
		network.Prefix = prefix.Masked()
		n.listed = append(n.listed, network)
	}
	slices.Reverse(n.listed)
	slices.SortStableFunc(n.listed, func(a, b Network) int {
		return cmp.Or(comparePrefixes(a.Prefix, b.Prefix), cmp.Compare(len(b.Path), len(a.Path)))
	})
	n.outer = make([]int, len(n.listed))
	for i := range n.listed {
		at := i - 1
		for at >= 0 && !encloses(n.listed[at].Prefix, n.listed[i].Prefix) {
			at = n.outer[at]
		}
		n.outer[i] = at
	}
	return n
}

// find returns the index in listed of the network of an address.
func (n *networks) find(ip netip.Addr) (int, bool) {
	if !ip.IsValid() {
		return 0, false
	}
	at := sort.Search(len(n.listed), func(i int) bool { return ip.Less(n.listed[i].Prefix.Addr()) }) - 1
	for ; at >= 0; at = n.outer[at] {
		network := &n.listed[at]
		if !network.Prefix.Contains(ip) {
			continue
		}
		if !slices.ContainsFunc(network.Except, func(e netip.Prefix) bool { return e.Contains(ip) }) {
			return at, true
		}
	}
	return 0, false
}

// SenderNetworks finds the known sender that lists an address in its SPF records.
type SenderNetworks struct {
	networks *networks
	senders  []*sender // for each network
}

// NewSenderNetworks returns the networks of the expanded records of SenderRecords. Networks of
// other records are ignored. The order of the expansions does not matter.
func NewSenderNetworks(expansions []Expansion) *SenderNetworks {
	var all []Network
	for _, expansion := range expansions {
		for _, network := range expansion.Networks {
			network.Path = append([]string{expansion.Domain}, network.Path...)
			if known().ofPath(network.Path) != nil {
				all = append(all, network)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Network) int { return slices.Compare(a.Path, b.Path) })
	s := &SenderNetworks{networks: newNetworks(all)}
	for _, network := range s.networks.listed {
		s.senders = append(s.senders, known().ofPath(network.Path))
	}
	return s
}

func (s *SenderNetworks) find(ip netip.Addr) *sender {
	at, found := s.networks.find(ip)
	if !found {
		return nil
	}
	return s.senders[at]
}

// SenderRecords returns the names of the SPF records of known senders, sorted. Expand them,
// for example once a day, and pass the expansions to NewSenderNetworks.
func SenderRecords() []string {
	var names []string
	for name, s := range known().records {
		if slices.Contains(s.spf, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
