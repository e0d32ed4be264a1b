// Package mailauthtest has DNS records for tests of received mail: as a resolver in memory,
// and as a name server on loopback.
package mailauthtest

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"
)

// Zone has DNS records and answers queries for them. It counts the queries. It is safe for
// concurrent use.
type Zone struct {
	mu      sync.Mutex
	records map[string][]dns.RR
	broken  map[string]bool
	queries map[string]int
}

// NewZone returns a Zone with records in the form of a zone file, such as
//
//	example.com. TXT "v=spf1 -all"
func NewZone(t testing.TB, lines ...string) *Zone {
	t.Helper()
	z := &Zone{records: map[string][]dns.RR{}, broken: map[string]bool{}, queries: map[string]int{}}
	z.Add(t, lines...)
	return z
}

// Add adds records.
func (z *Zone) Add(t testing.TB, lines ...string) {
	t.Helper()
	z.mu.Lock()
	defer z.mu.Unlock()
	for _, line := range lines {
		rr, err := dns.NewRR(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		name := strings.ToLower(rr.Header().Name)
		z.records[name] = append(z.records[name], rr)
	}
}

// AddTXT adds a TXT record, divided into strings of at most 255 octets.
func (z *Zone) AddTXT(name, text string) {
	rr := &dns.TXT{Hdr: dns.RR_Header{Name: dns.Fqdn(name), Rrtype: dns.TypeTXT, Class: dns.ClassINET, Ttl: 60}}
	for len(text) > 255 {
		rr.Txt, text = append(rr.Txt, text[:255]), text[255:]
	}
	rr.Txt = append(rr.Txt, text)
	z.mu.Lock()
	defer z.mu.Unlock()
	key := strings.ToLower(rr.Hdr.Name)
	z.records[key] = append(z.records[key], rr)
}

// Break makes every query for the names fail with SERVFAIL.
func (z *Zone) Break(names ...string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	for _, name := range names {
		z.broken[strings.ToLower(dns.Fqdn(name))] = true
	}
}

// Queries returns the number of queries for a name so far, or of all queries if the name is
// empty.
func (z *Zone) Queries(name string) int {
	z.mu.Lock()
	defer z.mu.Unlock()
	if name != "" {
		return z.queries[strings.ToLower(dns.Fqdn(name))]
	}
	var all int
	for _, n := range z.queries {
		all += n
	}
	return all
}

// answer returns the records of a name and type, and the response code.
func (z *Zone) answer(name string, kind uint16) ([]dns.RR, int) {
	name = strings.ToLower(dns.Fqdn(name))
	z.mu.Lock()
	defer z.mu.Unlock()
	z.queries[name]++
	if z.broken[name] {
		return nil, dns.RcodeServerFailure
	}
	var records []dns.RR
	for _, rr := range z.records[name] {
		if rr.Header().Rrtype == kind {
			records = append(records, rr)
		}
	}
	if len(records) > 0 || z.exists(name) {
		return records, dns.RcodeSuccess
	}
	return nil, dns.RcodeNameError
}

// exists reports whether the name has records, or names below it.
func (z *Zone) exists(name string) bool {
	for known := range z.records {
		if known == name || strings.HasSuffix(known, "."+name) {
			return true
		}
	}
	return false
}

// lookup returns the records of a name and type, or the error that a *net.Resolver returns.
func lookup[T dns.RR](z *Zone, ctx context.Context, name string, kind uint16) ([]T, error) {
	if err := ctx.Err(); err != nil {
		return nil, &net.DNSError{Err: err.Error(), Name: name, IsTimeout: true}
	}
	records, code := z.answer(name, kind)
	switch {
	case code == dns.RcodeServerFailure:
		return nil, &net.DNSError{Err: "server misbehaving", Name: name, IsTemporary: true}
	case len(records) == 0:
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	typed := make([]T, len(records))
	for i, rr := range records {
		typed[i] = rr.(T)
	}
	return typed, nil
}

// LookupTXT returns the TXT records of a name.
func (z *Zone) LookupTXT(ctx context.Context, name string) ([]string, error) {
	records, err := lookup[*dns.TXT](z, ctx, name, dns.TypeTXT)
	var texts []string
	for _, rr := range records {
		texts = append(texts, strings.Join(rr.Txt, ""))
	}
	return texts, err
}

// LookupMX returns the MX records of a name.
func (z *Zone) LookupMX(ctx context.Context, name string) ([]*net.MX, error) {
	records, err := lookup[*dns.MX](z, ctx, name, dns.TypeMX)
	var hosts []*net.MX
	for _, rr := range records {
		hosts = append(hosts, &net.MX{Host: rr.Mx, Pref: rr.Preference})
	}
	return hosts, err
}

// LookupIPAddr returns the IPv4 addresses of a name.
func (z *Zone) LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, error) {
	records, err := lookup[*dns.A](z, ctx, host, dns.TypeA)
	var addresses []net.IPAddr
	for _, rr := range records {
		addresses = append(addresses, net.IPAddr{IP: rr.A})
	}
	return addresses, err
}

// LookupAddr returns the names of an IP address.
func (z *Zone) LookupAddr(ctx context.Context, addr string) ([]string, error) {
	name, err := dns.ReverseAddr(addr)
	if err != nil {
		return nil, err
	}
	records, err := lookup[*dns.PTR](z, ctx, name, dns.TypePTR)
	var names []string
	for _, rr := range records {
		names = append(names, rr.Ptr)
	}
	return names, err
}

// TXT returns the TXT records of a name as package dmarc wants them: none for a name without
// any.
func (z *Zone) TXT(ctx context.Context, name string) ([]string, error) {
	texts, err := z.LookupTXT(ctx, name)
	if failure, ok := err.(*net.DNSError); ok && failure.IsNotFound { //nolint:errorlint // lookup returns the error itself
		return nil, nil
	}
	return texts, err
}

// Exists reports whether a name exists.
func (z *Zone) Exists(_ context.Context, name string) (bool, error) {
	_, code := z.answer(name, dns.TypeTXT)
	if code == dns.RcodeServerFailure {
		return false, &net.DNSError{Err: "server misbehaving", Name: name, IsTemporary: true}
	}
	return code != dns.RcodeNameError, nil
}

// Alias returns the target of the CNAME record of a name, without the final dot, or "" if it has
// none.
func (z *Zone) Alias(ctx context.Context, name string) (string, error) {
	records, err := lookup[*dns.CNAME](z, ctx, name, dns.TypeCNAME)
	if failure, ok := err.(*net.DNSError); ok && failure.IsNotFound { //nolint:errorlint // lookup returns the error itself
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(records[0].Target, "."), nil
}

// Mend ends the failures of Break.
func (z *Zone) Mend() {
	z.mu.Lock()
	defer z.mu.Unlock()
	clear(z.broken)
}

// SetTXT replaces the TXT records of a name by the texts.
func (z *Zone) SetTXT(name string, texts ...string) {
	z.mu.Lock()
	key := strings.ToLower(dns.Fqdn(name))
	z.records[key] = slices.DeleteFunc(z.records[key], func(rr dns.RR) bool { return rr.Header().Rrtype == dns.TypeTXT })
	if len(z.records[key]) == 0 {
		delete(z.records, key)
	}
	z.mu.Unlock()
	for _, text := range texts {
		z.AddTXT(name, text)
	}
}

// Serve starts a name server with the zone on loopback, over UDP and TCP, and returns its
// address. It runs until the test ends.
func (z *Zone) Serve(t testing.TB) netip.AddrPort {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	packets, err := net.ListenPacket("udp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	handler := dns.HandlerFunc(z.serveDNS)
	for _, s := range []*dns.Server{{PacketConn: packets, Handler: handler}, {Listener: listener, Handler: handler}} {
		started := make(chan struct{})
		s.NotifyStartedFunc = func() { close(started) }
		go func() { _ = s.ActivateAndServe() }()
		<-started
		t.Cleanup(func() { _ = s.Shutdown() })
	}
	return netip.MustParseAddrPort(listener.Addr().String())
}

// serveDNS answers a query. Over UDP, an answer that is too long is truncated, so that the
// client asks again over TCP.
func (z *Zone) serveDNS(w dns.ResponseWriter, q *dns.Msg) {
	reply := new(dns.Msg).SetReply(q)
	// Otherwise the standard library takes a name without records for a fault of the server.
	reply.Authoritative = true
	reply.Answer, reply.Rcode = z.answer(q.Question[0].Name, q.Question[0].Qtype)
	if _, udp := w.RemoteAddr().(*net.UDPAddr); udp {
		reply.Truncate(dns.MinMsgSize)
	}
	_ = w.WriteMsg(reply)
}

// Resolver returns a resolver of the standard library that asks only the name server at the
// address.
func Resolver(server netip.AddrPort) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, server.String())
	}}
}
