package discovery

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// place says how near an IP address is to this machine.
type place int32

const (
	public   place = iota // on the Internet
	private               // in a private network, or reachable from this network only
	loopback              // on this machine
)

// String returns the end of a sentence about an address.
func (p place) String() string {
	return [...]string{public: "on the Internet", private: "in a private network", loopback: "on this machine"}[p]
}

// sharedNetwork is the network between the routers of a provider and its customers (RFC
// 6598).
var sharedNetwork = netip.MustParsePrefix("100.64.0.0/10")

// placeOf returns the place of an IP address.
func placeOf(at netip.AddrPort) place {
	ip := at.Addr().Unmap()
	switch {
	case ip.IsLoopback() || ip.IsUnspecified(): // systems connect to themselves for 0.0.0.0
		return loopback
	case ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || sharedNetwork.Contains(ip):
		return private
	}
	return public
}

// reach decides which addresses the metadata of a server may name. The metadata of a public
// server may name only public addresses. That of a server in a private network may also name
// private addresses, and that of a server on this machine any address. Otherwise a server on
// the Internet could direct this program to services that only this machine or its network
// can reach.
type reach struct {
	host    string       // of the address that the person gave
	near    atomic.Int32 // the place of that host
	placeOf func(netip.AddrPort) place
	dialer  net.Dialer
}

// newReach returns the reach of the server at the address that a person gave. The server
// counts as public if its host is a name, until the first connection to it; see observe.
func newReach(given *url.URL) *reach {
	r := &reach{host: given.Hostname(), placeOf: placeOf, dialer: net.Dialer{Timeout: requestTimeout, KeepAlive: 30 * time.Second}}
	r.near.Store(int32(r.placeOfHost(given)))
	return r
}

// observe takes over the place of the server from a connection on which it has answered.
func (r *reach) observe(remote net.Addr) {
	if remote == nil {
		return
	}
	if at, err := netip.ParseAddrPort(remote.String()); err == nil {
		r.near.Store(int32(max(r.placeOf(at), place(r.near.Load()))))
	}
}

// placeOfHost returns the place of the host in an address. It looks up no names.
func (r *reach) placeOfHost(u *url.URL) place {
	name := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return loopback
	}
	ip, err := netip.ParseAddr(name)
	if err != nil {
		return public
	}
	port, _ := net.LookupPort("tcp", u.Port()) // the place of an address depends on the port in tests only
	return r.placeOf(netip.AddrPortFrom(ip, uint16(port)))
}

// check parses an address that the metadata names. The errors begin with name, the member of
// the metadata.
func (r *reach) check(name, address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, fmt.Errorf("%s %q is not a web address", name, address)
	}
	near, named := place(r.near.Load()), r.placeOfHost(u)
	switch {
	case u.User != nil || u.Fragment != "":
		return nil, fmt.Errorf("%s %s must not have a user or a fragment", name, address)
	case u.Scheme == "http" && (near != loopback || !isLoopback(u.Hostname())):
		return nil, fmt.Errorf("%s %s is not encrypted, and tokens must not be sent over it", name, address)
	case named > near:
		return nil, fmt.Errorf("%s %s is %v, but %s is %v", name, address, named, r.host, near)
	}
	return u, nil
}

// transport returns a transport that connects to no address that is out of reach. Behind a
// proxy only the addresses that check refuses are out of reach, because the proxy resolves
// the names and connects.
func (r *reach) transport() *http.Transport {
	t := Transport(requestTimeout)
	if !usesProxy(t) {
		t.DialContext = r.dial
	}
	return t
}

// usesProxy reports whether a proxy of the environment is used for servers on the Internet.
func usesProxy(t *http.Transport) bool {
	proxy, err := t.Proxy(&http.Request{URL: &url.URL{Scheme: "https", Host: "proxied.invalid"}})
	return err == nil && proxy != nil
}

// dial connects to an address. The host that the person gave is always in reach.
func (r *reach) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := r.dialer
	if host, _, err := net.SplitHostPort(address); err != nil || host != r.host {
		dialer.Control = func(_, address string, _ syscall.RawConn) error { return r.permit(address) }
	}
	return dialer.DialContext(ctx, network, address)
}

// permit returns an error if the IP address and port are out of reach. It checks the address
// to which the connection is made, so that no later answer of the DNS can change it.
func (r *reach) permit(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return &outOfReach{err.Error()}
	}
	if near, named := place(r.near.Load()), r.placeOf(at); named > near {
		return &outOfReach{fmt.Sprintf("its address %v is %v, but %s is %v", at.Addr(), named, r.host, near)}
	}
	return nil
}

// outOfReach is the error for a connection that reach does not permit.
type outOfReach struct{ text string }

func (e *outOfReach) Error() string { return e.text }

// isLoopback reports whether the host is this machine on every operating system.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}
