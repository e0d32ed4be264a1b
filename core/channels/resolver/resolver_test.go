package resolver_test

import (
	"net"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/channels/resolver"
	"github.com/miekg/dns"
)

// nameServer starts a name server on the loopback interface, over UDP and TCP, and returns
// its address. The server runs until the test ends.
func nameServer(t *testing.T, handler dns.HandlerFunc) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	packets, err := net.ListenPacket("udp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*dns.Server{{PacketConn: packets, Handler: handler}, {Listener: listener, Handler: handler}} {
		started := make(chan struct{})
		s.NotifyStartedFunc = func() { close(started) }
		go func() { _ = s.ActivateAndServe() }()
		<-started
		t.Cleanup(func() { _ = s.Shutdown() })
	}
	return listener.Addr().String()
}

// zone answers DNS queries: click.example.com is an alias, in.example.com has mail servers, large.example.com has its answer
// only over TCP, and refused.example.com fails. Other names do not exist.
func zone(w dns.ResponseWriter, q *dns.Msg) {
	answer := new(dns.Msg).SetReply(q)
	alias := &dns.CNAME{
		Hdr:    dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeCNAME, Class: dns.ClassINET, Ttl: 60},
		Target: "R.eu-central-1.awstrack.me.",
	}
	switch _, overUDP := w.RemoteAddr().(*net.UDPAddr); q.Question[0].Name {
	case "click.example.com.":
		answer.Answer = []dns.RR{alias}
	case "large.example.com.":
		if answer.Truncated = overUDP; !overUDP {
			answer.Answer = []dns.RR{alias}
		}
	case "in.example.com.":
		for preference, host := range []string{"other.example.net.", "MX.example.net."} {
			answer.Answer = append(answer.Answer, &dns.MX{
				Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeMX, Class: dns.ClassINET, Ttl: 60}, Preference: uint16(preference), Mx: host,
			})
		}
	case "refused.example.com.":
		answer.Rcode = dns.RcodeServerFailure
	default:
		answer.Rcode = dns.RcodeNameError
	}
	_ = w.WriteMsg(answer)
}

func TestPublished(t *testing.T) {
	t.Parallel()
	r := &resolver.Resolver{Servers: []string{nameServer(t, zone)}, Timeout: 2 * time.Second}
	for _, c := range []struct {
		kind, name, value string
		found, err        bool
	}{
		{"MX", "in.example.com", "10 mx.example.net", true, false},
		{"MX", "in.example.com", "10 mx.example.org", false, false},
		{"MX", "click.example.com", "10 mx.example.net", false, false},
		{"MX", "none.example.com", "10 mx.example.net", false, false},
		{"MX", "refused.example.com", "10 mx.example.net", false, true},
		{"CNAME", "click.example.com", "r.eu-central-1.awstrack.me", true, false},
		{"CNAME", "large.example.com", "r.eu-central-1.awstrack.me", true, false},
		{"CNAME", "click.example.com", "r.us-east-1.awstrack.me", false, false},
		{"CNAME", "none.example.com", "r.eu-central-1.awstrack.me", false, false},
		{"CNAME", "refused.example.com", "r.eu-central-1.awstrack.me", false, true},
		{"CNAME", "a..b", "r.eu-central-1.awstrack.me", false, false},
	} {
		found, err := r.IsPublished(t.Context(), "org", channels.Record{Type: c.kind, Name: c.name, Value: c.value})
		if found != c.found || (err != nil) != c.err {
			t.Errorf("%s -> %s: %v, %v", c.name, c.value, found, err)
		}
	}
}

func TestTheNextServerIsAsked(t *testing.T) {
	t.Parallel()
	down := nameServer(t, func(w dns.ResponseWriter, q *dns.Msg) {
		_ = w.WriteMsg(new(dns.Msg).SetRcode(q, dns.RcodeRefused))
	})
	record := channels.Record{Type: "CNAME", Name: "click.example.com", Value: "r.eu-central-1.awstrack.me"}
	r := &resolver.Resolver{Servers: []string{down, nameServer(t, zone)}}
	if found, err := r.IsPublished(t.Context(), "org", record); !found || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	if _, err := new(resolver.Resolver).IsPublished(t.Context(), "org", record); err == nil {
		t.Error("without a name server there is no error")
	}
}
