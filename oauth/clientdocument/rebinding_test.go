package clientdocument

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"code.dny.dev/ssrf"
	"golang.org/x/net/dns/dnsmessage"
)

// names is a DNS server on loopback that answers every name. The first lookup gets the
// first answer, the second the second. The last answer is repeated.
type names struct {
	conn net.PacketConn

	mu      sync.Mutex
	answers [][]netip.Addr
	lookups int
}

// newNames starts the server. Each answer is a list of addresses separated by commas.
// An empty answer means that the name does not exist.
func newNames(t *testing.T, answers ...string) *names {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &names{conn: conn}
	for _, answer := range answers {
		var addresses []netip.Addr
		for _, address := range strings.FieldsFunc(answer, func(r rune) bool { return r == ',' }) {
			addresses = append(addresses, netip.MustParseAddr(address))
		}
		n.answers = append(n.answers, addresses)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.serve()
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-done
	})
	return n
}

func (n *names) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", n.conn.LocalAddr().String())
	}}
}

func (n *names) serve() {
	packet := make([]byte, 1500)
	for {
		size, from, err := n.conn.ReadFrom(packet)
		if err != nil {
			return
		}
		var query dnsmessage.Message
		if err := query.Unpack(packet[:size]); err != nil || len(query.Questions) != 1 {
			continue
		}
		reply := n.reply(query)
		if packed, err := reply.Pack(); err == nil {
			_, _ = n.conn.WriteTo(packed, from)
		}
	}
}

func (n *names) reply(query dnsmessage.Message) dnsmessage.Message {
	question := query.Questions[0]
	reply := dnsmessage.Message{Header: dnsmessage.Header{ID: query.ID, Response: true, Authoritative: true}, Questions: query.Questions}
	addresses := n.turn(question.Type)
	if addresses == nil {
		reply.RCode = dnsmessage.RCodeNameError
	}
	header := dnsmessage.ResourceHeader{Name: question.Name, Type: question.Type, Class: dnsmessage.ClassINET}
	for _, a := range addresses {
		switch {
		case a.Is4() && question.Type == dnsmessage.TypeA:
			reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: a.As4()}})
		case a.Is6() && question.Type == dnsmessage.TypeAAAA:
			reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	return reply
}

// turn returns the next answer. Only IPv4 queries count, because the IPv6 query runs at
// the same time.
func (n *names) turn(kind dnsmessage.Type) []netip.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	current := n.answers[min(n.lookups, len(n.answers)-1)]
	if kind == dnsmessage.TypeA {
		n.lookups++
	}
	return current
}

// TestRebinding checks a name that resolves to a public address first and to loopback
// on the next lookup. It must not be fetched: the checked address is the one that is
// connected to.
func TestRebinding(t *testing.T) {
	t.Parallel()
	names := newNames(t, "1.1.1.1", "127.0.0.1")
	reader, dials := reading(Config{Resolver: names.resolver()})

	first, err := names.resolver().LookupNetIP(t.Context(), "ip4", "app.example")
	if err != nil || len(first) != 1 || newGuard(nil).Control("tcp4", netip.AddrPortFrom(first[0], 443).String(), nil) != nil {
		t.Fatalf("the first lookup is not public: %v, %v", first, err)
	}
	_, err = reader.ReadDocument(t.Context(), appID)
	refused(t, err, "cannot be reached")
	if !errors.Is(err, ssrf.ErrProhibitedIP) || len(dials.refused) != 1 || !strings.Contains(dials.refused[0].Error(), "127.0.0.1") {
		t.Errorf("%v: %v", errors.Unwrap(err), dials.refused)
	}
	if len(dials.approved) != 0 {
		t.Errorf("%v was approved", dials.approved)
	}
}

// TestRebindingBetweenReads checks that an address is checked again for each fetch.
func TestRebindingBetweenReads(t *testing.T) {
	t.Parallel()
	var hands hands
	names := newNames(t, "1.1.1.1", "10.0.0.1", "169.254.169.254")
	reader, dials := reading(Config{Resolver: names.resolver(), Clock: hands.now})
	for range 3 {
		_, err := reader.ReadDocument(t.Context(), appID)
		refused(t, err, "cannot be reached")
		hands.advance(refusalLife)
	}
	if !slices.Equal(dials.approved, []string{"1.1.1.1:443"}) || len(dials.refused) != 2 {
		t.Errorf("approved %v, refused %v", dials.approved, dials.refused)
	}
}

// TestNamesThatLeadInside checks that every address of an answer is checked, IPv4 and
// IPv6.
func TestNamesThatLeadInside(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		"127.0.0.1", "10.0.0.1,192.168.0.1", "169.254.169.254", "0.0.0.0", "::1", "fd00:ec2::254", "127.0.0.1,::1", "64:ff9b::7f00:1", "2002:7f00:1::",
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			reader, dials := reading(Config{Resolver: newNames(t, answer).resolver()})
			_, err := reader.ReadDocument(t.Context(), appID)
			refused(t, err, "cannot be reached")
			// The dialer skips an address family that this machine does not have.
			if len(dials.approved) != 0 || !errors.Is(err, ssrf.ErrProhibitedIP) && !strings.Contains(answer, ":") {
				t.Errorf("approved %v, refused %v, %v", dials.approved, dials.refused, errors.Unwrap(err))
			}
		})
	}
}

// TestNewGuards checks that a reader from New uses the guard.
func TestNewGuards(t *testing.T) {
	t.Parallel()
	reader := New(Config{Resolver: newNames(t, "127.0.0.1").resolver()})
	_, err := reader.ReadDocument(t.Context(), appID)
	refused(t, err, "cannot be reached")
	if !errors.Is(err, ssrf.ErrProhibitedIP) {
		t.Errorf("%v", errors.Unwrap(err))
	}
}

// TestNamesOfAllowedNetworks checks that a name in an allowed network is fetched from,
// with a certificate for the name.
func TestNamesOfAllowedNetworks(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(s *site, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(documentFor("https://"+r.Host+r.URL.Path, nil))
	})
	config := s.config()
	config.Resolver = newNames(t, "127.0.0.1").resolver()
	reader, _ := reading(config)
	id := strings.Replace(s.clientID, "127.0.0.1", "example.com", 1)
	if d := mustRead(t, reader, id); d.ClientID != id {
		t.Errorf("%+v", d)
	}
	_, err := reader.ReadDocument(t.Context(), strings.Replace(s.clientID, "127.0.0.1", "other.example", 1))
	refused(t, err, "no certificate that is trusted")
}
