package resolver_test

import (
	"fmt"
	"net"
	"net/netip"
	"testing"

	channels "github.com/mailhelm/mailhelm/core/channels/resolver"
	"github.com/mailhelm/mailhelm/core/domainauth/resolver"
	"github.com/mailhelm/mailhelm/core/mailauth/mailauthtest"
	"github.com/miekg/dns"
)

// TestNameServer asks a name server on loopback as a server does.
func TestNameServer(t *testing.T) {
	t.Parallel()
	zone := mailauthtest.NewZone(t,
		`a.example. TXT "one" "two"`, `a.example. MX 10 Mx.example.`, `a.example. A 192.0.2.1`,
		`one._domainkey.a.example. CNAME one.dkim.mailer.example.`, `1.2.0.192.in-addr.arpa. PTR mx.example.`, `broken.example. TXT "x"`,
	)
	zone.Break("broken.example", "9.2.0.192.in-addr.arpa")
	server := zone.Serve(t).String()
	standard := channels.Through(server)
	standard.StrictErrors = true
	r, ctx := resolver.New(standard, &channels.Resolver{Servers: []string{server}}), t.Context()
	ask := map[string]func(name string) (any, error){
		"TXT":    func(name string) (any, error) { return r.TXT(ctx, name) },
		"A":      func(name string) (any, error) { return r.Addresses(ctx, name) },
		"MX":     func(name string) (any, error) { return r.Exchanges(ctx, name) },
		"CNAME":  func(name string) (any, error) { return r.Alias(ctx, name) },
		"exists": func(name string) (any, error) { return r.Exists(ctx, name) },
		"PTR":    func(name string) (any, error) { return r.Names(ctx, netip.MustParseAddr(name)) },
	}
	for _, tc := range []struct{ kind, name, want string }{
		{"TXT", "a.example", "[onetwo]"},
		{"TXT", "none.example", "[]"},
		{"TXT", "one._domainkey.none.example", "[]"},
		{"TXT", "bücher.example", "[]"},
		{"TXT", "", "[]"},
		{"TXT", "broken.example", "fails"},
		{"A", "a.example", "[192.0.2.1]"},
		{"A", "none.example", "[]"},
		{"A", "broken.example", "fails"},
		{"MX", "a.example", "[Mx.example]"},
		{"MX", "none.example", "[]"},
		{"MX", "broken.example", "fails"},
		{"CNAME", "one._domainkey.a.example", "one.dkim.mailer.example"},
		{"CNAME", "a.example", ""},
		{"CNAME", "none.example", ""},
		{"CNAME", "", ""},
		{"CNAME", "broken.example", "fails"},
		{"exists", "a.example", "true"},
		{"exists", "none.example", "false"},
		{"exists", "", "false"},
		{"exists", "broken.example", "fails"},
		{"PTR", "192.0.2.1", "[mx.example]"},
		{"PTR", "192.0.2.2", "[]"},
		{"PTR", "192.0.2.9", "fails"},
	} {
		got, err := ask[tc.kind](tc.name)
		if shown := fmt.Sprint(got); (err != nil) != (tc.want == "fails") || err == nil && shown != tc.want {
			t.Errorf("%s %s: %s, %v; want %s", tc.kind, tc.name, shown, err, tc.want)
		}
	}
}

// TestHalfAnAnswerFails checks that addresses of one kind alone are no answer if the query for
// the other kind fails.
func TestHalfAnAnswerFails(t *testing.T) {
	t.Parallel()
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	started := make(chan struct{})
	server := &dns.Server{PacketConn: packets, NotifyStartedFunc: func() { close(started) }, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		reply := new(dns.Msg).SetReply(q)
		reply.Authoritative = true
		if q.Question[0].Qtype == dns.TypeA {
			reply.Answer = []dns.RR{&dns.A{Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET}, A: net.IPv4(192, 0, 2, 1)}}
		} else {
			reply.Rcode = dns.RcodeServerFailure
		}
		_ = w.WriteMsg(reply)
	})}
	go func() { _ = server.ActivateAndServe() }()
	<-started
	t.Cleanup(func() { _ = server.Shutdown() })
	standard := channels.Through(packets.LocalAddr().String())
	standard.StrictErrors = true
	if found, err := resolver.New(standard, nil).Addresses(t.Context(), "a.example"); err == nil {
		t.Errorf("%v", found)
	}
}
