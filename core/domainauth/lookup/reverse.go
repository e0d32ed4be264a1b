package lookup

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/cache"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// The limits of reverse names: of one call, of one address, and how long results are
// remembered. Owners rarely rename servers; a name server that does not answer may do so soon.
const (
	maxReverse        = 1000
	maxReverseTime    = 20 * time.Second
	reverseAtOnce     = 16
	maxReverseNames   = 5
	rememberReverse   = 24 * time.Hour
	rememberNoReverse = 6 * time.Hour
	rememberFailure   = 10 * time.Minute
	maxRemembered     = 100_000
)

// Reverse finds the confirmed names of addresses. It is safe for concurrent use.
type Reverse struct {
	resolver Resolver
	clock    core.Clock
	names    *cache.Cache[netip.Addr, string]
}

// NewReverse returns a Reverse.
func NewReverse(r Resolver, clock core.Clock) *Reverse {
	return &Reverse{resolver: r, clock: clock, names: cache.New[netip.Addr, string](maxRemembered)}
}

// ReverseNames returns the confirmed reverse names of addresses: those whose own addresses
// contain the address. An address without one, one of a private network, and one about which
// DNS does not answer are left out. A call asks about at most 1,000 addresses that are not
// remembered, for at most 20 seconds.
func (v *Reverse) ReverseNames(ctx context.Context, addresses []netip.Addr) map[netip.Addr]string {
	ctx, cancel := context.WithTimeout(ctx, maxReverseTime)
	defer cancel()
	found := map[netip.Addr]string{}
	var unknown []netip.Addr
	seen := map[netip.Addr]bool{}
	for _, ip := range addresses {
		plain := ip.Unmap().WithZone("")
		if name, ok := v.names.Get(plain, v.clock()); ok {
			if name != "" {
				found[ip] = name
			}
			continue
		}
		if !seen[ip] && plain.IsGlobalUnicast() && !plain.IsPrivate() && len(unknown) < maxReverse {
			unknown = append(unknown, ip)
		}
		seen[ip] = true
	}
	names := make([]string, len(unknown))
	next := make(chan int)
	var running sync.WaitGroup
	for range min(reverseAtOnce, len(unknown)) {
		running.Go(func() {
			for i := range next {
				names[i] = v.find(ctx, unknown[i].Unmap().WithZone(""))
			}
		})
	}
	for i := range unknown {
		next <- i
	}
	close(next)
	running.Wait()
	for i, ip := range unknown {
		if names[i] != "" {
			found[ip] = names[i]
		}
	}
	return found
}

// find asks for the name of one address and remembers the result. After the end of ctx it does
// neither.
func (v *Reverse) find(ctx context.Context, ip netip.Addr) string {
	epoch := v.names.Epoch()
	if ctx.Err() != nil {
		return ""
	}
	name, err := v.confirmed(ctx, ip)
	keep := rememberReverse
	switch {
	case ctx.Err() != nil && name == "":
		return ""
	case name == "" && err != nil:
		keep = rememberFailure
	case name == "":
		keep = rememberNoReverse
	}
	v.names.Put(ip, name, v.clock().Add(keep), epoch)
	return name
}

// confirmed returns the first name, by the alphabet, that has the address.
func (v *Reverse) confirmed(ctx context.Context, ip netip.Addr) (string, error) {
	answer, err := v.resolver.Names(ctx, ip)
	if err != nil {
		return "", err
	}
	var names []string
	for _, name := range answer {
		if normal, ok := dmarc.Name(name); ok {
			names = append(names, normal)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	var failure error
	for _, name := range names[:min(len(names), maxReverseNames)] {
		addresses, err := v.resolver.Addresses(ctx, name)
		if err != nil {
			failure = err
		}
		if slices.ContainsFunc(addresses, func(a netip.Addr) bool { return a.Unmap() == ip }) {
			return name, nil
		}
	}
	return "", failure
}
