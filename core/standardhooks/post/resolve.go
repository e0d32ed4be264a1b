package post

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"

	"github.com/mailhelm/mailhelm/core/outbound"
	"github.com/mailhelm/mailhelm/core/standardhooks"
)

// Resolve looks up the host of a URL. It returns standardhooks.NoProblem if this server may
// connect to all of its addresses, RefusedAddress if it may not connect to one of them, and
// UnknownHost if there is none. It returns NotConnected if no name server answered. The address
// is checked again for each connection.
func (s Sender) Resolve(ctx context.Context, address string) standardhooks.Problem {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return standardhooks.NotSent
	}
	ctx, cancel := context.WithTimeout(ctx, standardhooks.Timeout)
	defer cancel()
	found, err := s.resolver.LookupNetIP(ctx, "ip", u.Hostname())
	if unknown, ok := errors.AsType[*net.DNSError](err); ok && unknown.IsNotFound {
		return standardhooks.UnknownHost
	}
	if err != nil {
		return standardhooks.NotConnected
	}
	port := u.Port()
	if port == "" {
		port = "443"
	}
	for _, ip := range found {
		if !allows(s.guard, ip.Unmap(), port) {
			return standardhooks.RefusedAddress
		}
	}
	return standardhooks.NoProblem
}

// allows reports whether the guard lets this server connect to an address.
func allows(g outbound.Guard, ip netip.Addr, port string) bool {
	network := "tcp6"
	if ip.Is4() {
		network = "tcp4"
	}
	return g.Control(network, net.JoinHostPort(ip.String(), port), nil) == nil
}
