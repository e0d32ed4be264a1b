package sources_test

import (
	"net/netip"
	"testing"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
)

const bakeryName = "bakery.example"

type identifyCase struct {
	name     string
	evidence sources.Evidence
	key      string
	class    sources.Classification
}

// directCases are rows for which SPF of the domain passed, or whose address the record has.
var directCases = []identifyCase{
	{"own server in the record", row(ipOwn, bakeryName, "pass", signed(bakeryName, "mail2026")), "own", sources.Own},
	{"own server without a signature", row(ipOwn, bakeryName, "pass"), "own", sources.Own},
	{"own server that a hosting company named", named(row(ipOwn, bakeryName, "pass"), "srv7.hoster.example"), "own", sources.Own},
	{"own server with an envelope sender of another domain", row(ipOwn, "list.example", "none"), "own", sources.Own},
	{"own server of a mailing list", overridden(row(ipOwn, "list.example", "pass"), "mailing_list", ""), "own", sources.Own},
	{"listed address that a known sender named", named(row(ipOwn, bakeryName, "pass"), "o1.ptr.sendgrid.net"), "sender/sendgrid.net", sources.Authorised},
	{"included known sender", row(ipGoogle, bakeryName, "pass", signed(bakeryName, "google")), "sender/google.com", sources.Authorised},
	{"included known sender with an own key", row(ipSendGrid, "em1.bakery.example", "pass", signed(bakeryName, "mail2026")), "own", sources.Own},
	{"included known sender, SPF not checked", sources.Evidence{IP: netip.MustParseAddr(ipGoogle)}, "sender/google.com", sources.Authorised},
	{"included known sender, DNS failed", row(ipSendGrid, bakeryName, "temperror"), "sender/sendgrid.net", sources.Authorised},
	{"included sender that is not known", row(ipAcme, bakeryName, "pass"), "sender/acme-mail.example", sources.Authorised},
	{"record of known senders before an include that is not known", named(row(ipAcme, bakeryName, "pass"), "m1.mailgun.net"), "sender/mailgun.org", sources.Authorised},
	{"key of a service that sends through another", row(ipSendGrid, bakeryName, "pass", signed(bakeryName, "km1")), "sender/klaviyomail.com", sources.Authorised},
	{"mail through the own mailbox provider", row(ipGoogle, bakeryName, "pass", signed(bakeryName, "fm1")), "sender/google.com", sources.Authorised},
	{"SPF passed for an address that is not in our expansion", row(ipMailgun, "mg.bakery.example", "pass"), "sender/mailgun.org", sources.Authorised},
	{"the same without any name", row(ipUnknown, bakeryName, "pass"), "sender/198.18.7.0/24", sources.Authorised},
	{"the same with a key of a known sender", row(ipUnknown, bakeryName, "pass", signed(bakeryName, "zendesk1")), "sender/zendesk.com", sources.Authorised},
	{"the receiver found SPF aligned", sources.Evidence{IP: netip.MustParseAddr(ipMailgun), SPFAligned: true}, "sender/mailgun.org", sources.Authorised},
	{"HELO of the domain passed", sources.Evidence{
		IP: netip.MustParseAddr(ipUnknown), SPF: []report.SPFResult{{Domain: "mail.bakery.example", Scope: "helo", Result: "pass"}},
	}, "sender/198.18.7.0/24", sources.Authorised},
}

// keyedCases are rows with a valid signature of the domain that SPF does not confirm.
var keyedCases = []identifyCase{
	{"service with a bounce domain of its own", row(ipMailgun, "mailgun.org", "pass", signed(bakeryName, "k1")), "sender/mailgun.org", sources.Authorised},
	{"own key at a service", row(ipMailgun, "mailgun.org", "pass", signed(bakeryName, "mail2026")), "own", sources.Own},
	{"service that an included service sends for", row(ipSendGrid, "bounce.klaviyomail.com", "pass", signed(bakeryName, "km2")), "sender/klaviyomail.com", sources.Authorised},
	{"mailbox provider forwards mail of the own server", row(ipOutlook, "tenant.example", "pass", signed(bakeryName, "mail2026")), "forwarder/outlook.com", sources.Forwarder},
	{"mailbox provider forwards mail with another's key", row(ipOutlook, bakeryName, "fail", signed(bakeryName, "google")), "forwarder/outlook.com", sources.Forwarder},
	{"mailbox provider sends with its own key", row(ipOutlook, bakeryName, "softfail", signed(bakeryName, "selector1")), "sender/outlook.com", sources.Authorised},
	{"included mailbox provider forwards mail of a service", row(ipGoogle, "gmail.com", "pass", signed(bakeryName, "k2")), "forwarder/google.com", sources.Forwarder},
	{"included mailbox provider sends a calendar invitation", row(ipGoogle, "calendar.google.com", "pass", signed(bakeryName, "google")), "sender/google.com", sources.Authorised},
	{"gateway of a recipient", row(ipMimecast, bakeryName, "softfail", signed(bakeryName, "mail2026")), "forwarder/mimecast.com", sources.Forwarder},
	{"forwarding service", row(ipForward, "forwardemail.net", "pass", signed(bakeryName, "mail2026")), "forwarder/forwardemail.net", sources.Forwarder},
	{"university forwards mail of the own server", named(row(ipUnknown, bakeryName, "softfail", signed(bakeryName, "mail2026")), "mx.uni.example"), "forwarder/uni.example", sources.Forwarder},
	{"university with a rewritten envelope sender", named(row(ipUnknown, "uni.example", "pass", signed(bakeryName, "k2")), "mx.uni.example"), "forwarder/uni.example", sources.Forwarder},
	{"sender that is not known, with a key of its own", named(row(ipUnknown, "b.newmail.example", "pass", signed(bakeryName, "nm1")), "out.newmail.example"), "sender/newmail.example", sources.Unknown},
	{"the same, signing twice", row(ipUnknown, "b.newmail.example", "pass", signed(bakeryName, "nm1"), signed("newmail.example", "x")), "sender/newmail.example", sources.Unknown},
	{"mailing list that signs again", row(ipUnknown, "lists.example", "pass", signed(bakeryName, "mail2026"), signed("lists.example", "x")), "forwarder/lists.example", sources.Forwarder},
	{"receiver says forwarded", overridden(row(ipUnknown, "b.newmail.example", "pass", signed(bakeryName, "nm1")), "forwarded", ""), "forwarder/newmail.example", sources.Forwarder},
	{"included sender that is not known, bounce domain of its own", row(ipAcme, "acme-mail.example", "pass", signed(bakeryName, "a1")), "sender/acme-mail.example", sources.Authorised},
	{"forwarder without a name, SPF excludes it", row(ipUnknown, bakeryName, "fail", signed(bakeryName, "mail2026")), "forwarder/198.18.7.0/24", sources.Forwarder},
	{"forwarder without a name, envelope sender of another domain", row(ipUnknown6, "other.example", "none", signed(bakeryName, "mail2026")), "forwarder/2001:db8:1::/48", sources.Forwarder},
	{"name within the domain", named(row(ipUnknown, bakeryName, "none", signed(bakeryName, "x")), "www.bakery.example"), "own", sources.Own},
	{"rented server with an own key that SPF excludes", named(row(ipUnknown, bakeryName, "fail", signed(bakeryName, "mail2026")), "static.7.7.18.198.clients.your-server.de"), "forwarder/198.18.7.0/24", sources.Forwarder},
	{"no envelope sender is reported, SPF checked another domain", envelope(row(ipUnknown, "x.example", "none", signed(bakeryName, "mail2026")), ""), "forwarder/198.18.7.0/24", sources.Forwarder},
	{"SPF says neutral", row(ipUnknown, bakeryName, "neutral", signed(bakeryName, "mail2026")), "forwarder/198.18.7.0/24", sources.Forwarder},
	{"the receiver found DKIM aligned", sources.Evidence{IP: netip.MustParseAddr(ipMailgun), DKIMAligned: true}, "sender/mailgun.org", sources.Authorised},
}

// noRecordCases are rows with a valid signature, of a domain whose SPF record is not known or
// authorizes every address.
var noRecordCases = []identifyCase{
	{"own key, nothing says that it was forwarded", row(ipUnknown, bakeryName, "none", signed(bakeryName, "mail2026")), "own", sources.Own},
	{"key of a known sender, nothing else", row(ipUnknown, bakeryName, "temperror", signed(bakeryName, "zendesk2")), "sender/zendesk.com", sources.Authorised},
	{"key of an unknown sender, nothing else", row(ipUnknown, bakeryName, "none", signed(bakeryName, "x")), "sender/198.18.7.0/24", sources.Unknown},
	{"own key, HELO of another host checked", sources.Evidence{
		IP: netip.MustParseAddr(ipUnknown), DKIM: []report.Signature{signed(bakeryName, "mail2026")}, SPF: []report.SPFResult{{Domain: "x.example", Scope: "helo", Result: "none"}},
	}, "own", sources.Own},
	{"the envelope sender is of the domain, SPF checked another domain", envelope(row(ipUnknown, "x.example", "none", signed(bakeryName, "mail2026")), "jo@bakery.example"), "own", sources.Own},
	{"own key, the receiver says forwarded", overridden(row(ipUnknown, bakeryName, "none", signed(bakeryName, "mail2026")), "forwarded", ""), "forwarder/198.18.7.0/24", sources.Forwarder},
	{"own key, SPF excludes the address", row(ipUnknown, bakeryName, "softfail", signed(bakeryName, "mail2026")), "forwarder/198.18.7.0/24", sources.Forwarder},
	{"own key, SPF says neutral", row(ipUnknown, bakeryName, "Neutral", signed(bakeryName, "mail2026")), "forwarder/198.18.7.0/24", sources.Forwarder},
	{"no envelope sender is reported, SPF checked another domain", envelope(row(ipUnknown, "x.example", "none", signed(bakeryName, "mail2026")), ""), "forwarder/198.18.7.0/24", sources.Forwarder},
}

// noSelectorCases are the same for a domain whose own selectors are not known either.
var noSelectorCases = []identifyCase{
	{"host with a name, SPF excludes it", named(row(ipUnknown, bakeryName, "fail", signed(bakeryName, "x")), "mx.uni.example"), "forwarder/uni.example", sources.Forwarder},
	{"host with a name and envelope senders of its own", row(ipUnknown, "uni.example", "pass", signed(bakeryName, "x")), "forwarder/uni.example", sources.Forwarder},
	{"host with a name, nothing says that it forwarded", named(row(ipUnknown, bakeryName, "none", signed(bakeryName, "x")), "mx.uni.example"), "sender/uni.example", sources.Unknown},
	{"host that signs too", row(ipUnknown, "uni.example", "pass", signed(bakeryName, "x"), signed("uni.example", "y")), "sender/uni.example", sources.Unknown},
}

// unprovenCases are rows without a proof of the domain.
var unprovenCases = []identifyCase{
	{"nothing at all, excluded by the record", row(ipUnknown, bakeryName, "softfail"), "net/198.18.7.0/24", sources.Spoofing},
	{"nothing at all, IPv6", row(ipUnknown6, bakeryName, "fail"), "net/2001:db8:1::/48", sources.Spoofing},
	{"IPv4 address in IPv6 form", row("::ffff:198.18.7.9", bakeryName, "fail"), "net/198.18.7.0/24", sources.Spoofing},
	{"address with a zone", row("fe80::1%eth0", bakeryName, "fail"), "net/fe80::/48", sources.Spoofing},
	{"no address", sources.Evidence{}, "net/unknown", sources.Spoofing},
	{"failing signatures of the domain and of a known sender", row(ipUnknown, bakeryName, "fail", claimed(bakeryName, "mail2026"), claimed("sendgrid.net", "smtpapi")), "net/198.18.7.0/24", sources.Spoofing},
	{"failing SPF of a known sender", row(ipUnknown, "sendgrid.net", "fail"), "net/198.18.7.0/24", sources.Spoofing},
	{"dynamic address that an access provider named", named(row(ipUnknown, bakeryName, "fail"), "p198-18-7-7.dynamic.isp.example"), "net/198.18.7.0/24", sources.Spoofing},
	{"rented server", named(row(ipUnknown, bakeryName, "fail"), "ec2-198-18-7-7.compute-1.amazonaws.com"), "net/198.18.7.0/24", sources.Unknown},
	{"confirmed name", named(row(ipUnknown, bakeryName, "fail"), "mail.shop-tool.example"), "sender/shop-tool.example", sources.Unknown},
	{"confirmed name that imitates a known sender", named(row(ipUnknown, bakeryName, "fail"), "mail.google.com.evil.example"), "sender/evil.example", sources.Unknown},
	{"confirmed name below a public suffix", named(row(ipUnknown, bakeryName, "fail"), "mx.tool.co.uk"), "sender/tool.co.uk", sources.Unknown},
	{"confirmed name of a known sender", named(row(ipUnknown, bakeryName, "fail"), "m12.mailgun.net"), "sender/mailgun.org", sources.Unknown},
	{"autonomous system of a known sender", announced(row(ipUnknown, bakeryName, "fail"), 11377), "sender/sendgrid.net", sources.Unknown},
	{"autonomous system that is not known", announced(row(ipUnknown, bakeryName, "fail"), 64500), "net/198.18.7.0/24", sources.Spoofing},
	{"name of one sender in the system of another", announced(named(row(ipUnknown, bakeryName, "fail"), "m12.mailgun.net"), 11377), "sender/mailgun.org", sources.Unknown},
	{"system of a known sender before a name that is not known", announced(named(row(ipUnknown, bakeryName, "fail"), "m.customer.example"), 11377), "sender/sendgrid.net", sources.Unknown},
	{"name within the domain, no proof in the mail", named(row(ipUnknown, bakeryName, "fail"), "office.bakery.example"), "own", sources.Own},
	{"known sender that the domain does not include", row(ipMailgun, "mailgun.org", "pass", signed("mailgun.org", "x")), "sender/mailgun.org", sources.Unknown},
	{"included sender, not aligned", row(ipSendGrid, "sendgrid.net", "pass", signed("sendgrid.net", "smtpapi")), "sender/sendgrid.net", sources.Authorised},
	{"included sender, sent for another customer", row(ipSendGrid, "em.other.example", "pass", signed("other.example", "s1")), "sender/other.example", sources.Unknown},
	{"customer and service sign", row(ipMailgun, "mailgun.org", "pass", signed("booking.example", "k1"), signed("mailgun.org", "x")), "sender/booking.example", sources.Unknown},
	{"two customers sign", row(ipMailgun, "mailgun.org", "pass", signed("b.example", "k1"), signed("a.example", "k1")), "sender/a.example", sources.Unknown},
	{"a service and a mailbox provider sign", row(ipUnknown, "x.example", "none", signed("gmail.com", "1"), signed("zendesk.com", "2")), "sender/zendesk.com", sources.Unknown},
	{"mail of a known sender that another host forwards", named(row(ipUnknown, "uni.example", "pass", signed("sendgrid.net", "smtpapi")), "mx.uni.example"), "forwarder/uni.example", sources.Forwarder},
	{"mail of a known sender that a mailbox provider forwards", row(ipOutlook, "tenant.example", "pass", signed("sendgrid.net", "smtpapi")), "forwarder/outlook.com", sources.Forwarder},
	{"mail of a known sender from an address without a name", row(ipUnknown, "bounce.other.example", "pass", signed("sendgrid.net", "smtpapi")), "sender/sendgrid.net", sources.Unknown},
	{"mail of a service through another service", row(ipSendGrid, "klaviyomail.com", "pass", signed("klaviyomail.com", "x")), "sender/klaviyomail.com", sources.Unknown},
	{"gateway of a recipient", row(ipMimecast, bakeryName, "fail"), "forwarder/mimecast.com", sources.Forwarder},
	{"forwarding service", row(ipForward, "forwardemail.net", "pass", claimed(bakeryName, "mail2026")), "forwarder/forwardemail.net", sources.Forwarder},
	{"mailbox provider without a proof", row(ipOutlook, bakeryName, "softfail"), "sender/outlook.com", sources.Unknown},
	{"tenant of the included mailbox provider", row(ipGoogle, "other.example", "pass"), "sender/google.com", sources.Authorised},
	{"receiver says mailing list", overridden(row(ipUnknown, "lists.example", "pass", claimed(bakeryName, "mail2026")), "mailing_list", ""), "forwarder/lists.example", sources.Forwarder},
	{"receiver says forwarded, no name", overridden(row(ipUnknown, bakeryName, "fail"), "Forwarded", ""), "forwarder/198.18.7.0/24", sources.Forwarder},
	{"receiver trusts the forwarder", overridden(row(ipOutlook, "t.example", "pass"), "trusted_forwarder", ""), "forwarder/outlook.com", sources.Forwarder},
	{"receiver trusts a chain of ARC", overridden(row(ipOutlook, "t.example", "pass"), "local_policy", "ARC=pass as.1=x"), "forwarder/outlook.com", sources.Forwarder},
	{"chain of ARC failed", overridden(row(ipOutlook, "t.example", "pass"), "local_policy", "arc=fail"), "sender/outlook.com", sources.Unknown},
	{"comment with a longer word", overridden(row(ipOutlook, "t.example", "pass"), "local_policy", "arc=pass_through"), "sender/outlook.com", sources.Unknown},
	{"comment that contains the words", overridden(row(ipOutlook, "t.example", "pass"), "local_policy", "arc=passed-over"), "sender/outlook.com", sources.Unknown},
	{"other reasons", overridden(overridden(row(ipUnknown, bakeryName, "fail"), "sampled_out", ""), "other", "arc=pass"), "net/198.18.7.0/24", sources.Spoofing},
	{"a service does not forward", overridden(row(ipMailgun, "mailgun.org", "pass"), "forwarded", ""), "sender/mailgun.org", sources.Unknown},
	{"envelope sender of the rewriting scheme", envelope(row(ipUnknown, "fwd.example", "pass"), "SRS0=Tx3=HA=bakery.example=jo@fwd.example"), "forwarder/fwd.example", sources.Forwarder},
	{"the form of Microsoft 365", envelope(row(ipOutlook, "tenant.example", "pass"), "<jo+SRS=ab=cd=bakery.example=li@tenant.example>"), "forwarder/outlook.com", sources.Forwarder},
	{"the form of Gmail", envelope(row(ipUnknown, "gmail.com", "pass"), "jo+caf_=li=x.example@gmail.com"), "forwarder/google.com", sources.Forwarder},
	{"the scheme without a pass", envelope(row(ipUnknown, "fwd.example", "fail"), "SRS0=Tx3=HA=bakery.example=jo@fwd.example"), "net/198.18.7.0/24", sources.Spoofing},
	{"the scheme in the domain itself", envelope(row(ipUnknown, bakeryName, "fail"), "SRS0=Tx3=HA=x.example=jo@bakery.example"), "net/198.18.7.0/24", sources.Spoofing},
	{"the beginning of the scheme alone", envelope(row(ipUnknown, "fwd.example", "pass"), "srs1@fwd.example"), "sender/fwd.example", sources.Unknown},
	{"a name that only begins like the scheme", envelope(row(ipUnknown, "fwd.example", "pass"), "srs0nline@fwd.example"), "sender/fwd.example", sources.Unknown},
	{"SPF passed for another domain", row(ipUnknown, "throwaway.example", "pass"), "sender/throwaway.example", sources.Unknown},
	{"HELO of another domain passed", sources.Evidence{
		IP: netip.MustParseAddr(ipUnknown), SPF: []report.SPFResult{{Domain: "mx.host.example", Scope: "helo", Result: "pass"}},
	}, "sender/host.example", sources.Unknown},
	{"internationalized name", row(ipUnknown, "bücher.example", "pass"), "sender/xn--bcher-kva.example", sources.Unknown},
	{"texts that are not names", sources.Evidence{
		IP: netip.MustParseAddr(ipUnknown), PTR: "[198.18.7.7]", EnvelopeFrom: "<>",
		DKIM: []report.Signature{signed("not a name", "x"), signed("", "")}, SPF: []report.SPFResult{{Domain: "..", Result: "pass"}},
	}, "net/198.18.7.0/24", sources.Spoofing},
}

func TestIdentify(t *testing.T) {
	t.Parallel()
	for _, group := range []struct {
		domain sources.Domain
		cases  []identifyCase
	}{
		{bakery(), directCases},
		{bakery(), keyedCases},
		{bakery(), unprovenCases},
		{sources.Domain{Name: bakeryName, Selectors: []string{"mail2026"}}, noRecordCases},
		{sources.Domain{Name: bakeryName, Selectors: []string{"mail2026"}, SPF: sources.Expansion{All: sources.Pass}}, noRecordCases},
		{sources.Domain{Name: bakeryName}, noSelectorCases},
	} {
		identifier := sources.New(group.domain, knownSenders())
		for _, tc := range group.cases {
			got := identifier.Identify(tc.evidence)
			if got.Key != tc.key || got.Classification != tc.class {
				t.Errorf("%s: %s, %s; want %s, %s", tc.name, got.Key, got.Classification, tc.key, tc.class)
			}
		}
	}
}
