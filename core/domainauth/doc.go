// Package domainauth has the operations on domain authentication: who sends mail in the name of
// an organization's domains, by the DMARC reports of receivers, and whether the policy of a
// domain may become stricter.
//
// It reads what others write: package intake reads reports into the database, package measuring
// asks DNS and computes findings and events. The rules are in the pure packages below this one:
// figures, sources, readiness, timeline and comparison.
//
// Nothing in this package publishes a record or changes a policy. A record is a text that a
// person may publish.
package domainauth
