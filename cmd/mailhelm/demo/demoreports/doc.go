// Package demoreports gives the demo 90 days of DMARC reports about its domain: from several
// receivers of mail, about the organization's own senders, a helpdesk that was set up in this time, a
// web shop that is missing in the SPF record, forwarders, and attackers who forge mail. The policy of
// the domain went from none to quarantine.
//
// The reports are files, which the product reads as any others. So are the records of the domain,
// which the product polls at times in the past. The receivers and their mail are invented: their
// domains end in .example (RFC 2606), and their addresses are in the networks for documentation (RFC
// 5737, RFC 3849) and benchmarks (RFC 2544). The same day gives the same reports.
package demoreports
