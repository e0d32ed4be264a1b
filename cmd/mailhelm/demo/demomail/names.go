package demomail

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"net"
	"strings"

	"github.com/miekg/dns"
)

// loopback is the address at which the demo's servers listen.
const loopback = "127.0.0.1"

// selector is the DKIM selector of all senders of the demo.
const selector = "demo"

// signingDomains are the domains of the invented senders who sign their mail and may send it
// from this machine.
var signingDomains = []string{"accounts.example.org", "shop.example.net", "news.example.net", "garden.example.org", "example.com"}

// forgedDomain is the domain of a sender whose mail does not come from this machine.
const forgedDomain = "bank.example.net"

// Names is a name server with the records of the demo's senders. It knows no other name, and asks
// no other server.
type Names struct {
	// Address is where it listens, as host:port.
	Address string

	key     ed25519.PrivateKey
	records map[string]string // TXT records by name
	servers []*dns.Server
}

// ServeNames starts a name server on the loopback.
func ServeNames() (*Names, error) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, err
	}
	n := &Names{key: private, records: map[string]string{
		forgedDomain + ".": "v=spf1 -all", "_dmarc." + forgedDomain + ".": "v=DMARC1; p=reject",
	}}
	for _, domain := range signingDomains {
		n.records[domain+"."] = "v=spf1 ip4:127.0.0.1 ip6:::1 -all"
		n.records[selector+"._domainkey."+domain+"."] = "v=DKIM1; k=ed25519; p=" + base64.StdEncoding.EncodeToString(public)
		n.records["_dmarc."+domain+"."] = "v=DMARC1; p=reject"
	}
	packets, listener, err := listenTwice()
	if err != nil {
		return nil, err
	}
	n.Address = packets.LocalAddr().String()
	for _, s := range []*dns.Server{{PacketConn: packets, Handler: n}, {Listener: listener, Handler: n}} {
		n.servers = append(n.servers, s)
		go func() { _ = s.ActivateAndServe() }() // it ends with Close
	}
	return n, nil
}

// listenTwice listens on one port with UDP and TCP. A port that is free for UDP may be in use for
// TCP, so it tries several.
func listenTwice() (net.PacketConn, net.Listener, error) {
	var failure error
	for range 50 {
		packets, err := net.ListenPacket("udp", loopback+":0") //nolint:noctx // as long as the process
		if err != nil {
			return nil, nil, err
		}
		listener, err := net.Listen("tcp", packets.LocalAddr().String()) //nolint:noctx // as long as the process
		if err == nil {
			return packets, listener, nil
		}
		failure = errors.Join(err, packets.Close())
	}
	return nil, nil, failure
}

// Close stops the server.
func (n *Names) Close() {
	for _, s := range n.servers {
		_ = s.Shutdown() // it fails only before the server has begun
	}
}

// ServeDNS answers a query.
func (n *Names) ServeDNS(w dns.ResponseWriter, query *dns.Msg) {
	answer := new(dns.Msg).SetReply(query)
	answer.Authoritative = true
	if len(query.Question) == 1 {
		q := query.Question[0]
		text, found := n.records[strings.ToLower(q.Name)]
		switch {
		case found && q.Qtype == dns.TypeTXT:
			answer.Answer = []dns.RR{&dns.TXT{Hdr: dns.RR_Header{Name: q.Name, Rrtype: dns.TypeTXT, Class: dns.ClassINET, Ttl: 60}, Txt: []string{text}}}
		case !found && !n.isAbove(strings.ToLower(q.Name)):
			answer.Rcode = dns.RcodeNameError
		}
	}
	_ = w.WriteMsg(answer) // the client asks again
}

// isAbove reports whether there are records below a name, which therefore exists.
func (n *Names) isAbove(name string) bool {
	for known := range n.records {
		if strings.HasSuffix(known, "."+name) {
			return true
		}
	}
	return false
}
