package demoreports

import (
	"net/netip"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
)

// Domain is the domain that the reports are about.
const Domain = "example.com"

// The days of the history on which something changed, counted backwards from today.
const (
	// Days is the number of days with reports.
	Days = 90
	// HelpdeskDay is the day on which the helpdesk began to send, without a signature.
	HelpdeskDay = 62
	// SignedDay is the day on which the helpdesk got a key of the domain.
	SignedDay = 52
	// PolicyDay is the day on which the policy went from none to quarantine.
	PolicyDay = 40
	// SPFDay is the day since which the SPF record says that other servers are not authorized.
	SPFDay = 75
)

// changeTime is the time of day at which records change.
const changeTime = 8 * time.Hour

// The SPF records of the services that the organization uses, with invented networks.
const (
	accountNetwork   = "198.51.100.0/26"   // Amazon SES
	workspaceNetwork = "198.51.100.64/26"  // Google Workspace
	helpdeskNetwork  = "198.51.100.128/26" // Freshdesk
)

// Records returns the TXT records of the domain and of the services that it uses, by their names, at
// a time. address receives the reports.
func Records(now, at time.Time, address string) map[string]string {
	today := now.UTC().Truncate(day)
	policy, others := "none", "?all"
	if !at.Before(today.Add(-PolicyDay*day + changeTime)) {
		policy = "quarantine"
	}
	if !at.Before(today.Add(-SPFDay*day + changeTime)) {
		others = "~all"
	}
	return map[string]string{
		"_dmarc." + Domain: "v=DMARC1; p=" + policy + "; rua=mailto:" + address,
		// The mail of the demo's own senders comes from the loopback.
		Domain:                "v=spf1 ip4:127.0.0.1 ip6:::1 ip4:192.0.2.16/28 include:_spf.google.com " + others,
		"amazonses.com":       "v=spf1 ip4:" + accountNetwork + " -all",
		"_spf.google.com":     "v=spf1 ip4:" + workspaceNetwork + " ~all",
		"email.freshdesk.com": "v=spf1 ip4:" + helpdeskNetwork + " -all",
	}
}

// sender is one who sends mail with the domain in From, or passes such mail on.
type sender struct {
	address netip.Addr // the first one
	hosts   int        // the number of its addresses
	// perDay returns the number of messages of a day that reporters may see.
	perDay func(d dayOf) int
	// kinds returns the kinds of its messages on a day.
	kinds func(d dayOf) []kind
}

// kind is a kind of messages: what a receiver finds out about them.
type kind struct {
	weight     int
	dkim, spf  bool // whether an aligned domain passed
	envelope   string
	signatures []report.Signature
	results    []report.SPFResult
	reasons    []report.Reason
	// exempt says that receivers do not apply the policy.
	exempt bool
}

// dayOf is a day of the history.
type dayOf struct {
	ago     int
	weekend bool
}

func dayAgo(today time.Time, ago int) dayOf {
	w := today.AddDate(0, 0, -ago).Weekday()
	return dayOf{ago: ago, weekend: w == time.Saturday || w == time.Sunday}
}

// each returns the numbers of a day of work and of one at the weekend.
func each(work, weekend int) func(dayOf) int {
	return func(d dayOf) int {
		if d.weekend {
			return weekend
		}
		return work
	}
}

func same(kinds ...kind) func(dayOf) []kind { return func(dayOf) []kind { return kinds } }

func passes(domain, selector string) report.Signature {
	return report.Signature{Domain: domain, Selector: selector, Result: "pass"}
}

func broken(domain, selector string) report.Signature {
	return report.Signature{Domain: domain, Selector: selector, Result: "fail"}
}

func mailFrom(domain, result string) []report.SPFResult {
	return []report.SPFResult{{Domain: domain, Scope: "mfrom", Result: result}}
}

// senders returns all senders. selector is a DKIM selector of the sending account.
func senders(selector string) []sender {
	return []sender{
		account(selector), staff(), till(), helpdesk(), webShop(), mailbox(selector), list(),
		forger("198.18.40.1", 79, 33, 12), forger("198.18.77.1", 57, 56, 11),
	}
}

// account returns the sending account: receipts and mail to new customers.
func account(selector string) sender {
	signed := []report.Signature{passes(Domain, selector), passes("amazonses.com", "ug7nbtf4gccmlpwj322ax3p6ow6yfsug")}
	k := kind{weight: 1, dkim: true, envelope: "eu-central-1.amazonses.com", signatures: signed, results: mailFrom("eu-central-1.amazonses.com", "pass")}
	return sender{address: netip.MustParseAddr("198.51.100.8"), hosts: 6, perDay: each(70, 35), kinds: same(k)}
}

// staff returns the mailboxes of the people of the organization.
func staff() sender {
	return sender{
		address: netip.MustParseAddr("198.51.100.70"), hosts: 4, perDay: each(46, 6),
		kinds: same(kind{weight: 1, dkim: true, spf: true, envelope: Domain, signatures: []report.Signature{passes(Domain, "google")}, results: mailFrom(Domain, "pass")}),
	}
}

// till returns the server in the shop, which sends receipts without a signature.
func till() sender {
	return sender{
		address: netip.MustParseAddr("192.0.2.20"), hosts: 1, perDay: each(9, 12),
		kinds: same(kind{weight: 1, spf: true, envelope: Domain, results: mailFrom(Domain, "pass")}),
	}
}

// helpdesk returns the helpdesk. Its mail fails until it has a key of the domain.
func helpdesk() sender {
	const bounces = "emailus.freshemail.io"
	k := kind{weight: 1, envelope: bounces, signatures: []report.Signature{passes("freshemail.io", "fwe")}, results: mailFrom(bounces, "pass")}
	signed := k
	signed.dkim, signed.signatures = true, append([]report.Signature{passes(Domain, "fdk1")}, k.signatures...)
	return sender{
		address: netip.MustParseAddr("198.51.100.131"), hosts: 2,
		perDay: func(d dayOf) int {
			if d.ago > HelpdeskDay {
				return 0
			}
			return each(17, 5)(d)
		},
		kinds: func(d dayOf) []kind {
			if d.ago > SignedDay {
				return []kind{k}
			}
			return []kind{signed}
		},
	}
}

// webShop returns the server of the wholesale shop, which is missing in the SPF record.
func webShop() sender {
	const bounces = "srv12.cheaphosting.example"
	return sender{
		address: netip.MustParseAddr("203.0.113.12"), hosts: 1, perDay: each(8, 2),
		kinds: same(kind{weight: 1, envelope: bounces, results: mailFrom(bounces, "pass")}),
	}
}

// mailbox returns a mailbox provider that passes mail on to other mailboxes, mostly unchanged.
func mailbox(selector string) sender {
	kept := kind{weight: 9, dkim: true, envelope: "gmail.com", signatures: []report.Signature{passes(Domain, selector)}, results: mailFrom("gmail.com", "pass")}
	changed := kept
	changed.weight, changed.dkim, changed.exempt = 1, false, true
	changed.signatures, changed.reasons = []report.Signature{broken(Domain, selector)}, []report.Reason{{Type: "forwarded"}}
	return sender{address: netip.MustParseAddr("2001:db8:4860::31"), hosts: 3, perDay: each(6, 3), kinds: same(kept, changed)}
}

// list returns a mailing list of baristas, which adds a footer to each message.
func list() sender {
	const bounces = "lists.baristas.example"
	k := kind{
		weight: 2, exempt: true, envelope: bounces, signatures: []report.Signature{passes(bounces, "ls"), broken(Domain, "google")}, results: mailFrom(bounces, "pass"),
		reasons: []report.Reason{{Type: "mailing_list"}},
	}
	treated := k
	treated.weight, treated.exempt = 1, false
	return sender{address: netip.MustParseAddr("203.0.113.201"), hosts: 1, perDay: each(3, 1), kinds: same(k, treated)}
}

// forger returns a server that forges mail on certain days.
func forger(address string, days ...int) sender {
	return sender{
		address: netip.MustParseAddr(address), hosts: 9,
		perDay: func(d dayOf) int {
			for n, ago := range days {
				if d.ago == ago {
					return 60 + 45*n
				}
			}
			return 0
		},
		kinds: same(kind{weight: 1, envelope: Domain, results: mailFrom(Domain, "softfail")}),
	}
}
