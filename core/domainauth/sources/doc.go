// Package sources decides which source a row of a DMARC aggregate report belongs to: the
// service, server or forwarder that sent mail in the name of a domain. It gives each source a
// key that is kept, a name for people, and a classification. It also opens and closes findings
// about a source from its daily figures.
//
// The package is pure. It reads no reports (core/domainauth/report does), has no database,
// and asks no name server: Expand reads SPF records through a Resolver that the caller passes.
// It refuses no mail, and a classification is a proposal: people decide about sources.
//
// # Evidence
//
// Only what a receiver verified counts: signatures and SPF results with the result "pass",
// reverse names that were confirmed by a forward lookup, addresses in SPF records, and the
// reasons with which a receiver did not apply the policy. Signatures that failed are claims of
// the sender and are ignored.
//
// The operator of the address is the first of: the SPF record of the domain, SPF records of
// known senders, the confirmed reverse name, the autonomous system, the domain for which SPF
// passed. A reverse name that contains the address, or that belongs to a company that rents
// servers, does not say who sends.
//
// # Keys
//
// A key is one of:
//
//	own                         the domain's own servers and keys, and the sending account
//	sender/sendgrid.net         a service or company, by its domain
//	forwarder/google.com        a forwarder, by its domain
//	sender/192.0.2.0/24         an authorized sender without a name, by its network
//	forwarder/192.0.2.0/24      a forwarder without a name
//	net/192.0.2.0/24            a network about which nothing is proven
//
// Networks are /24 for IPv4 and /48 for IPv6, the smallest that are routed on the Internet, so
// neighbouring servers of a sender are one source. Keys contain domains and not machine names
// of the table, so a sender that is added to the table later keeps its key. Keys contain no
// classification that a change of DNS could alter: when the owner adds a sender to the SPF
// record, the key stays and the classification becomes Authorised.
//
// Decision page 0109-sources-have-keys-of-what-is-proven.md has the rules.
package sources
