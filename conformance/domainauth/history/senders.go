package history

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
)

// sender is one who sends or passes on mail of the domain.
type sender struct {
	Source
	// from and to are the shares of the history between which it sends; 0 means to the end.
	from, to float64
	// perDay is the number of messages on an ordinary day, at a volume of 1.
	perDay   float64
	weekdays bool
	// burst is the number of days from one burst to the next, 0 for a sender that sends every day.
	burst, phase int
	filler       bool
	// prefix has its addresses, the last bits of which vary by spread.
	prefix netip.Prefix
	spread int
	kinds  []kind
}

// address returns one of the addresses of the sender.
func (s *sender) address(n int) netip.Addr {
	bytes := s.prefix.Addr().AsSlice()
	bytes[len(bytes)-1] += byte(1 + n%s.spread)
	address, _ := netip.AddrFromSlice(bytes)
	return address
}

// kind is a kind of messages: what a receiver found out about them.
type kind struct {
	weight     float64
	dkim, spf  bool // aligned
	envelope   string
	signatures []report.Signature
	results    []report.SPFResult
	reasons    []report.Reason
	// relayed says that a forwarder caused the failure, spared that receivers apply no policy, forged
	// that the messages are attacks.
	relayed, spared, forged bool
	// unsigned kinds end when the own servers begin to sign, and signed ones begin then.
	unsigned, signed bool
}

// weightAt returns the weight of the kind on a day.
func (k kind) weightAt(h *History, d time.Time) float64 {
	if begun := !d.Before(h.Signed.Truncate(day)); k.unsigned && begun || k.signed && !begun {
		return 0
	}
	return k.weight
}

func mailFrom(domain, result string) []report.SPFResult {
	return []report.SPFResult{{Domain: domain, Scope: "mfrom", Result: result}}
}

// The selector of the own servers, which SPF does not need.
const ownSelector = "oven1"

// cast returns the senders of every history.
func cast() []sender {
	return append([]sender{own(), sendgrid(), mailchimp(), klaviyo(), brevo(), shop(), mailbox(), list()}, attackers()...)
}

// own returns the own servers. They sign since h.Signed. Of 200 messages one fails, because DNS did
// not answer the receiver.
func own() sender {
	signature := []report.Signature{{Domain: Domain, Selector: ownSelector, Result: "pass"}}
	return sender{
		Source: Source{Key: "own", Name: "Own mail of " + Domain, Classification: sources.Own},
		perDay: 400, weekdays: true, prefix: netip.MustParsePrefix("192.0.2.0/28"), spread: 3,
		kinds: []kind{
			{weight: 97, unsigned: true, spf: true, envelope: Domain, results: mailFrom(Domain, "pass")},
			{weight: 3, unsigned: true, envelope: Domain, results: mailFrom(Domain, "temperror")},
			{weight: 96, signed: true, spf: true, dkim: true, envelope: Domain, signatures: signature, results: mailFrom(Domain, "pass")},
			{weight: 3, signed: true, dkim: true, envelope: Domain, signatures: signature, results: mailFrom(Domain, "temperror")},
			{weight: 0.5, signed: true, spf: true, envelope: Domain, signatures: []report.Signature{{Domain: Domain, Selector: ownSelector, Result: "temperror"}}, results: mailFrom(Domain, "pass")},
			{weight: 0.5, signed: true, envelope: Domain, results: mailFrom(Domain, "temperror")},
		},
	}
}

// sendgrid returns a service that SPF includes.
func sendgrid() sender {
	bounces := "em71." + Domain
	signatures := []report.Signature{{Domain: Domain, Selector: "s1", Result: "pass"}, {Domain: "sendgrid.net", Selector: "smtpapi", Result: "pass"}}
	return sender{
		Source: Source{Key: "sender/sendgrid.net", Name: "SendGrid", Provider: "sendgrid", Classification: sources.Authorised},
		perDay: 260, prefix: netip.MustParsePrefix("198.51.100.0/26"), spread: 5,
		kinds: []kind{
			{weight: 95, dkim: true, spf: true, envelope: bounces, signatures: signatures, results: mailFrom(bounces, "pass")},
			{weight: 4, spf: true, envelope: bounces, signatures: signatures[1:], results: mailFrom(bounces, "pass")},
			{weight: 1, envelope: bounces, results: mailFrom(bounces, "temperror")},
		},
	}
}

// mailchimp returns a service with a key of the domain and return addresses of its own.
func mailchimp() sender {
	const bounces = "mail77.atl.mcsv.net"
	return sender{
		Source: Source{Key: "sender/mcsv.net", Name: "Mailchimp", Provider: "mailchimp", Classification: sources.Authorised},
		perDay: 180, prefix: netip.MustParsePrefix("198.51.100.64/26"), spread: 4,
		kinds: []kind{
			{
				weight: 98, dkim: true, envelope: bounces, results: mailFrom(bounces, "pass"),
				signatures: []report.Signature{{Domain: Domain, Selector: "k2", Result: "pass"}, {Domain: "mcsv.net", Selector: "k1", Result: "pass"}},
			},
			{weight: 2, envelope: bounces, results: mailFrom(bounces, "pass"), signatures: []report.Signature{{Domain: Domain, Selector: "k2", Result: "fail"}}},
		},
	}
}

// klaviyo returns a service whose key was removed when the own servers began to sign. It sends on, so
// it is no longer authorized.
func klaviyo() sender {
	const bounces = "b7.klaviyomail.com"
	return sender{
		Source: Source{Key: "sender/klaviyomail.com", Name: "Klaviyo", Provider: "klaviyo", Classification: sources.Unknown},
		perDay: 40, prefix: netip.MustParsePrefix("198.51.100.192/26"), spread: 3,
		kinds: []kind{
			{weight: 1, unsigned: true, dkim: true, envelope: bounces, results: mailFrom(bounces, "pass"), signatures: []report.Signature{{Domain: Domain, Selector: "kl", Result: "pass"}}},
			{weight: 1, signed: true, envelope: bounces, results: mailFrom(bounces, "pass"), signatures: []report.Signature{{Domain: Domain, Selector: "kl", Result: "permerror"}}},
		},
	}
}

// brevo returns a service that the owner uses since the middle of the history.
func brevo() sender {
	const bounces = "aa.d.sender-sib.com"
	return sender{
		Source: Source{Key: "sender/brevo.com", Name: "Brevo", Provider: "brevo", Classification: sources.Authorised},
		from:   0.55, perDay: 90, prefix: netip.MustParsePrefix("198.51.100.128/26"), spread: 3,
		kinds: []kind{{
			weight: 1, dkim: true, envelope: bounces, results: mailFrom(bounces, "pass"),
			signatures: []report.Signature{{Domain: Domain, Selector: "mail", Result: "pass"}},
		}},
	}
}

// shop returns the server of a web shop that the owner has forgotten.
func shop() sender {
	const bounces = "web-7.cheaphost.example"
	return sender{
		Source: Source{Key: "sender/cheaphost.example", Name: "cheaphost.example", Classification: sources.Unknown},
		perDay: 22, prefix: netip.MustParsePrefix("203.0.113.64/28"), spread: 1,
		kinds: []kind{{weight: 1, envelope: bounces, results: mailFrom(bounces, "pass")}},
	}
}

// mailbox returns a mailbox provider that forwards mail to other mailboxes, mostly unchanged.
func mailbox() sender {
	return sender{
		Source: Source{Key: "forwarder/google.com", Name: "Forwarded by Google Workspace", Provider: "google_workspace", Classification: sources.Forwarder},
		perDay: 30, prefix: netip.MustParsePrefix("2001:db8:4860::/48"), spread: 9,
		kinds: []kind{
			{
				weight: 80, dkim: true, envelope: "gmail.com", results: mailFrom("gmail.com", "pass"),
				signatures: []report.Signature{{Domain: Domain, Selector: "s1", Result: "pass"}},
			},
			{
				weight: 20, envelope: "gmail.com", results: mailFrom("gmail.com", "pass"), relayed: true, spared: true,
				signatures: []report.Signature{{Domain: Domain, Selector: "s1", Result: "fail"}},
				reasons:    []report.Reason{{Type: "forwarded"}},
			},
		},
	}
}

// list returns a mailing list that adds a footer.
func list() sender {
	const bounces = "lists.clubs.example"
	k := kind{
		envelope: bounces, results: mailFrom(bounces, "pass"), relayed: true,
		signatures: []report.Signature{{Domain: bounces, Selector: "l", Result: "pass"}, {Domain: Domain, Selector: ownSelector, Result: "fail"}},
	}
	spared, treated := k, k
	spared.weight, spared.spared, spared.reasons = 70, true, []report.Reason{{Type: "mailing_list", Comment: "known list"}}
	treated.weight, treated.reasons = 30, []report.Reason{{Type: "other"}, {Type: "mailing_list"}}
	return sender{
		Source: Source{Key: "forwarder/clubs.example", Name: "Forwarded by clubs.example", Classification: sources.Forwarder},
		from:   0.1, perDay: 14, prefix: netip.MustParsePrefix("203.0.113.128/28"), spread: 2, kinds: []kind{spared, treated},
	}
}

// attackers returns servers that forge mail in bursts.
func attackers() []sender {
	var all []sender
	for n := range 6 {
		all = append(all, attacker(netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, byte(10 + n), 0}), 24), n))
	}
	return all
}

func attacker(network netip.Prefix, n int) sender {
	return sender{
		Source: Source{Key: "net/" + network.String(), Name: network.String(), Classification: sources.Spoofing},
		perDay: 120, burst: 17 + 3*n, phase: 5 * n, from: 0.05 * float64(n%6), prefix: network, spread: 8,
		kinds: []kind{{weight: 1, forged: true, envelope: Domain, results: mailFrom(Domain, "fail")}},
	}
}

// fillers returns further sources: attackers, and senders that are not in the table of known ones.
func fillers(count int) []sender {
	all := make([]sender, count)
	for n := range all {
		network := netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, byte(1 + n>>8), byte(n)}), 48)
		if n%2 == 0 {
			all[n] = attacker(network, 0)
			all[n].burst, all[n].from = 0, 0
		} else {
			all[n] = stranger(network, fmt.Sprintf("service%d.example", n))
		}
		all[n].filler, all[n].perDay = true, 6
	}
	return all
}

// stranger returns a sender that signs with a key of the domain and with its own.
func stranger(network netip.Prefix, domain string) sender {
	return sender{
		Source: Source{Key: "sender/" + domain, Name: domain, Classification: sources.Unknown}, prefix: network, spread: 4,
		kinds: []kind{{
			weight: 1, dkim: true, envelope: "bounces." + domain, results: mailFrom("bounces."+domain, "pass"),
			signatures: []report.Signature{{Domain: Domain, Selector: "x7", Result: "pass"}, {Domain: domain, Selector: "x7", Result: "pass"}},
		}},
	}
}
