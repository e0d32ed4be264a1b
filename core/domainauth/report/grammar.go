package report

// place is a place in the tree of elements. The same name has several places: "domain" is in the
// published policy, in signatures and in SPF results.
type place uint8

// The places. Those before firstValue have elements, the others text.
const (
	nowhere place = iota // elements that the format does not have, and all inside of them
	atDocument
	atFeedback
	atMetadata
	atPeriod
	atPolicy
	atRecord
	atRow
	atEvaluated
	atIdentifiers
	atResults
	atSignature
	atSPF
	atReason // also has text: some reporters write the type alone there
	firstValue
)

// firstText is the first place that has text.
const firstText = atReason

const (
	atVersion = firstValue + iota
	atOrg
	atEmail
	atContact
	atID
	atBegin
	atEnd
	atError
	atGenerator
	atPolicyDomain
	atP
	atSP
	atNP
	atADKIM
	atASPF
	atFO
	atPct
	atTesting
	atDiscovery
	atSourceIP
	atCount
	atDisposition
	atAlignedDKIM
	atAlignedSPF
	atReasonType
	atReasonComment
	atHeaderFrom
	atEnvelopeFrom
	atSignatureDomain
	atSignatureSelector
	atSignatureResult
	atSPFDomain
	atSPFScope
	atSPFResult
	placeCount
)

// tree has the elements that each element may have, by their local names, for all versions of the
// format: RFC 9990 appendix A, RFC 7489 appendix C, and drafts before, which had the version in the
// metadata and "identities". Mail::DMARC writes the tag "t" of the policy by that name. Elements that
// are not here are ignored with all inside of them.
var tree = [firstValue]map[string]place{
	atDocument: {"feedback": atFeedback},
	atFeedback: {"version": atVersion, "report_metadata": atMetadata, "policy_published": atPolicy, "record": atRecord},
	atMetadata: {
		"version": atVersion, "org_name": atOrg, "email": atEmail, "extra_contact_info": atContact, "report_id": atID, "date_range": atPeriod,
		"error": atError, "generator": atGenerator,
	},
	atPeriod: {"begin": atBegin, "end": atEnd},
	atPolicy: {
		"domain": atPolicyDomain, "p": atP, "sp": atSP, "np": atNP, "adkim": atADKIM, "aspf": atASPF, "fo": atFO, "pct": atPct,
		"testing": atTesting, "t": atTesting, "discovery_method": atDiscovery,
	},
	atRecord: {"row": atRow, "identifiers": atIdentifiers, "identities": atIdentifiers, "auth_results": atResults},
	atRow:    {"source_ip": atSourceIP, "count": atCount, "policy_evaluated": atEvaluated},
	atEvaluated: {
		"disposition": atDisposition, "dkim": atAlignedDKIM, "spf": atAlignedSPF, "reason": atReason,
	},
	atReason:      {"type": atReasonType, "comment": atReasonComment},
	atIdentifiers: {"header_from": atHeaderFrom, "envelope_from": atEnvelopeFrom},
	atResults:     {"dkim": atSignature, "spf": atSPF},
	atSignature:   {"domain": atSignatureDomain, "selector": atSignatureSelector, "result": atSignatureResult},
	atSPF:         {"domain": atSPFDomain, "scope": atSPFScope, "result": atSPFResult},
}

// element is an element of the format: its place, and its name in memory that is not the document's.
type element struct {
	at   place
	name string
}

// elements is tree with the names.
var elements = func() (all [firstValue]map[string]element) {
	for parent, children := range tree {
		all[parent] = map[string]element{}
		for name, at := range children {
			all[parent][name] = element{at, name}
		}
	}
	return all
}()

// child returns an element inside of another. Its place is nowhere if the format has none.
func (p place) child(local []byte) element {
	if p >= firstValue {
		return element{}
	}
	return elements[p][string(local)]
}

// The namespaces of the versions of the format.
const (
	namespaceRFC9990 = "urn:ietf:params:xml:ns:dmarc-2.0"
	namespaceRFC7489 = "http://dmarc.org/dmarc-xml/0.1"
	namespaceDraft   = "http://dmarc.org/dmarc-xml/0.2"
)

func knownNamespace(uri string) bool {
	return uri == "" || uri == namespaceRFC9990 || uri == namespaceRFC7489 || uri == namespaceDraft
}
