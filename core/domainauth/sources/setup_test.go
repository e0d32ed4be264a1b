package sources_test

import (
	"net/netip"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
)

// Addresses of the test domain. Each is in a network of its own.
const (
	ipOwn      = "198.51.100.3" // in the SPF record of the domain itself
	ipGoogle   = "203.0.113.1"  // included by it
	ipSendGrid = "203.0.113.65"
	ipAcme     = "203.0.113.129" // included, but not a known sender
	ipMailgun  = "192.0.2.1"     // in the record of a known sender only
	ipMimecast = "192.0.2.65"
	ipOutlook  = "192.0.2.129"
	ipForward  = "192.0.2.193"
	ipUnknown  = "198.18.7.7"
	ipUnknown6 = "2001:db8:1:2::25"
)

func network(prefix string, path ...string) sources.Network {
	return sources.Network{Prefix: netip.MustParsePrefix(prefix), Path: path}
}

// bakery is the domain of the tests. Its own servers sign with the selector mail2026.
func bakery() sources.Domain {
	return sources.Domain{
		Name:      "bakery.example",
		Selectors: []string{"mail2026"},
		SPF: sources.Expansion{
			Domain: "bakery.example",
			All:    sources.SoftFail,
			Networks: []sources.Network{
				network("198.51.100.0/28"),
				network("203.0.113.0/26", "_spf.google.com", "_netblocks.google.com"),
				network("203.0.113.64/26", "sendgrid.net"),
				network("203.0.113.128/26", "spf.acme-mail.example"),
			},
		},
	}
}

func knownSenders() *sources.SenderNetworks {
	return sources.NewSenderNetworks([]sources.Expansion{
		{Domain: "mailgun.org", Networks: []sources.Network{network("192.0.2.0/26", "_spf.mailgun.org")}},
		{Domain: "_netblocks.mimecast.com", Networks: []sources.Network{network("192.0.2.64/26")}},
		{Domain: "spf.protection.outlook.com", Networks: []sources.Network{network("192.0.2.128/26")}},
		{Domain: "spf.forwardemail.net", Networks: []sources.Network{network("192.0.2.192/26")}},
		{Domain: "sendgrid.net", Networks: []sources.Network{network("203.0.113.64/26")}},
		{Domain: "spf.elsewhere.example", Networks: []sources.Network{network("198.18.0.0/15")}},
	})
}

// row returns the evidence of a row with an address, and with the envelope sender as the
// domain of the SPF result.
func row(ip, envelope, spf string, signatures ...report.Signature) sources.Evidence {
	return sources.Evidence{
		IP: netip.MustParseAddr(ip), EnvelopeFrom: envelope, DKIM: signatures,
		SPF: []report.SPFResult{{Domain: envelope, Scope: "mfrom", Result: spf}},
	}
}

func signed(domain, selector string) report.Signature {
	return report.Signature{Domain: domain, Selector: selector, Result: "pass"}
}

func claimed(domain, selector string) report.Signature {
	return report.Signature{Domain: domain, Selector: selector, Result: "fail"}
}

func named(e sources.Evidence, ptr string) sources.Evidence {
	e.PTR = ptr
	return e
}

func announced(e sources.Evidence, asn uint32) sources.Evidence {
	e.ASN = asn
	return e
}

func overridden(e sources.Evidence, kind, comment string) sources.Evidence {
	e.Overrides = append(e.Overrides, report.Reason{Type: kind, Comment: comment})
	return e
}

func envelope(e sources.Evidence, address string) sources.Evidence {
	e.EnvelopeFrom = address
	return e
}
