package sources

import (
	"net/netip"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
)

// Evidence is a row of an aggregate report, and facts about its address. Texts are taken as
// reported: in any case, with or without a final dot, in U-labels or A-labels. The order of
// the results does not matter.
type Evidence struct {
	// IP is the reported address. An invalid one is allowed.
	IP netip.Addr
	// DKIM and SPF have the results that the receiver reported (auth_results).
	DKIM []report.Signature
	SPF  []report.SPFResult
	// DKIMAligned and SPFAligned report whether the receiver found an aligned domain
	// (policy_evaluated).
	DKIMAligned, SPFAligned bool
	// EnvelopeFrom is the reported envelope sender: a domain, an address, or empty.
	EnvelopeFrom string
	// Overrides has the reasons with which the receiver did not apply the policy.
	Overrides []report.Reason
	// PTR is the reverse name of the address. It must be confirmed: the addresses of the name
	// contain IP. Empty means unknown or not confirmed.
	PTR string
	// ASN is the number of the autonomous system that announces the address, zero if unknown.
	ASN uint32
}

// EvidenceOf returns the evidence of a record, without facts about its address. It shares the
// record's slices.
func EvidenceOf(r *report.Record) Evidence {
	return Evidence{
		IP: r.SourceIP, DKIM: r.Signatures, SPF: r.SPFResults, DKIMAligned: r.DKIM, SPFAligned: r.SPF,
		EnvelopeFrom: r.EnvelopeFrom, Overrides: r.Reasons,
	}
}

// Domain is what is known of the domain that a report is about.
type Domain struct {
	// Name is the domain, and Organization its organizational domain, which is Name if it is
	// empty. Names at and below Organization belong to the owner.
	Name, Organization string
	// Selectors has the DKIM selectors with which the owner's own servers and this product
	// sign, without those of other senders.
	Selectors []string
	// SPF is the expanded SPF record of Name. Callers keep the last one while DNS does not
	// answer, so that sources keep their classification.
	SPF Expansion
}

// Identity is the source of a row.
type Identity struct {
	// Key is the same for all rows of a source, and different for different sources of a
	// domain. See the package comment.
	Key string
	// Name is for people. Domains in it are in A-labels, because letters of other scripts
	// can imitate known names.
	Name string
	// Provider is the machine name of a known sender, or empty.
	Provider string
	// Classification is that of the row. Rows of one source can differ; see Merge. Messages of
	// a Forwarder that fail were broken by a relay (figures.Row).
	Classification Classification
}
