// Package outboundtest has a DNS server for tests of requests to host names that an
// outsider chose.
package outboundtest

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// Names is a DNS server on loopback that answers every host name. The n-th lookup gets the
// n-th answer; later lookups get the last answer.
type Names struct {
	conn net.PacketConn

	mu      sync.Mutex
	answers [][]netip.Addr
	lookups int
}

// NewNames starts a DNS server, which runs until the test ends. Each answer is a list of IP
// addresses separated by commas. An empty answer means that the name does not exist.
func NewNames(t testing.TB, answers ...string) *Names {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &Names{conn: conn}
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

// Resolver returns a resolver that queries this DNS server.
func (n *Names) Resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", n.conn.LocalAddr().String())
	}}
}

func (n *Names) serve() {
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

func (n *Names) reply(query dnsmessage.Message) dnsmessage.Message {
	question := query.Questions[0]
	reply := dnsmessage.Message{Header: dnsmessage.Header{ID: query.ID, Response: true, Authoritative: true}, Questions: query.Questions}
	addresses := n.nextAnswer(question.Type)
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

// nextAnswer returns the addresses for a query. Only IPv4 queries advance to the next
// answer, because a lookup sends an IPv4 and an IPv6 query at the same time.
func (n *Names) nextAnswer(kind dnsmessage.Type) []netip.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	current := n.answers[min(n.lookups, len(n.answers)-1)]
	if kind == dnsmessage.TypeA {
		n.lookups++
	}
	return current
}

// Lookups returns the number of lookups so far.
func (n *Names) Lookups() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lookups
}
