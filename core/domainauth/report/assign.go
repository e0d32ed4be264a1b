package report

import (
	"bytes"
	"net/netip"
)

// opened prepares what the elements inside of a new one change.
func (p *parser) opened(at place) {
	switch at {
	case atRecord:
		r := &p.record
		p.record = Record{Reasons: r.Reasons[:0], Signatures: r.Signatures[:0], SPFResults: r.SPFResults[:0]}
		p.sourceText, p.countText = p.sourceText[:0], p.countText[:0]
		clear(p.known[atSourceIP : atAlignedSPF+1])
	case atReason:
		p.reason, p.value = Reason{}, p.value[:0]
	case atSignature:
		p.signature = Signature{}
	case atSPF:
		p.spf = SPFResult{}
	default:
		if at >= firstValue {
			p.value = p.value[:0]
		}
	}
}

// closed keeps what an element that has ended had inside.
func (p *parser) closed(at place) error {
	r := &p.record
	switch {
	case at == atRecord:
		return p.pass()
	case at == atReason:
		p.closeReason()
	case at == atSignature && p.signature.Domain != "":
		r.Signatures = appendUpTo(p, r.Signatures, p.signature, maxResults)
	case at == atSPF && p.spf.Domain != "":
		r.SPFResults = appendUpTo(p, r.SPFResults, p.spf, maxResults)
	}
	return nil
}

// closeReason keeps a reason that has ended. If it has no elements, its text is the type.
func (p *parser) closeReason() {
	if p.reason == (Reason{}) {
		p.assign(atReasonType, p.clean())
	}
	if p.reason != (Reason{}) {
		p.record.Reasons = appendUpTo(p, p.record.Reasons, p.reason, maxReasons)
	}
}

func appendUpTo[T any](p *parser, all []T, one T, most int) []T {
	if len(all) == most {
		p.warn(TooManyResults, nil)
		return all
	}
	return append(all, one)
}

// pass calls visit for the record that has ended, unless a figure has no meaning without what it
// lacks.
func (p *parser) pass() error {
	r := &p.record
	if r.SourceIP == (netip.Addr{}) {
		p.warn(InvalidSourceIP, p.sourceText)
		return nil
	}
	if r.Count == 0 {
		p.warn(InvalidCount, p.countText)
		return nil
	}
	if !p.known[atAlignedDKIM] || !p.known[atAlignedSPF] {
		p.warn(InvalidResult, nil)
	}
	if r.Disposition == "" {
		r.Disposition = "none"
	}
	r.Domain = p.report.Policy.Domain
	p.report.Records++
	p.report.Messages += r.Count
	return p.visit(r)
}

// assign keeps a value. If an element occurs twice, the first one counts; an empty one is none.
func (p *parser) assign(at place, v []byte) {
	if len(v) == 0 {
		return
	}
	if field := p.field(at); field != nil {
		if *field == "" {
			*field = p.words.of(v)
		}
		return
	}
	if field := p.keyword(at); field != nil {
		if *field == "" {
			*field = p.words.of(domain(v))
		}
		return
	}
	p.assignFigure(at, v)
}

// field returns the field of a text that stays as it is, nil if the value is another one.
func (p *parser) field(at place) *string {
	switch at {
	case atSignatureSelector:
		return &p.signature.Selector
	case atReasonComment:
		return &p.reason.Comment
	case atVersion:
		return &p.report.Version
	case atOrg:
		return &p.report.Org
	case atEmail:
		return &p.report.Email
	case atContact:
		return &p.report.Contact
	case atID:
		return &p.report.ID
	case atGenerator:
		return &p.report.Generator
	case atFO:
		return &p.report.Policy.FO
	case atPct:
		return &p.report.Policy.Pct
	}
	return nil
}

// keyword returns the field of a domain or a word that does not depend on case.
func (p *parser) keyword(at place) *string {
	if at >= atPolicyDomain && at <= atDiscovery {
		return p.policyKeyword(at)
	}
	switch at {
	case atHeaderFrom:
		return &p.record.HeaderFrom
	case atEnvelopeFrom:
		return &p.record.EnvelopeFrom
	case atSignatureDomain:
		return &p.signature.Domain
	case atSignatureResult:
		return &p.signature.Result
	case atSPFDomain:
		return &p.spf.Domain
	case atSPFScope:
		return &p.spf.Scope
	case atSPFResult:
		return &p.spf.Result
	case atReasonType:
		return &p.reason.Type
	}
	return nil
}

func (p *parser) policyKeyword(at place) *string {
	policy := &p.report.Policy
	switch at {
	case atPolicyDomain:
		return &policy.Domain
	case atP:
		return &policy.P
	case atSP:
		return &policy.SP
	case atNP:
		return &policy.NP
	case atADKIM:
		return &policy.ADKIM
	case atASPF:
		return &policy.ASPF
	case atTesting:
		return &policy.Testing
	case atDiscovery:
		return &policy.Discovery
	}
	return nil
}

// assignFigure keeps a value that has a meaning of its own.
func (p *parser) assignFigure(at place, v []byte) {
	if at == atError {
		if len(p.report.Errors) < maxErrors {
			p.report.Errors = append(p.report.Errors, string(v))
		}
		return
	}
	if p.known[at] {
		return
	}
	p.known[at] = true
	switch at {
	case atSourceIP:
		p.sourceText = append(p.sourceText, v...)
		p.record.SourceIP, _ = parseIP(v)
	case atCount:
		p.countText = append(p.countText, v...)
		p.record.Count, _ = parseCount(v)
	case atDisposition:
		p.record.Disposition = p.disposition(lower(v))
	case atAlignedDKIM:
		p.record.DKIM = p.passed(lower(v))
	case atAlignedSPF:
		p.record.SPF = p.passed(lower(v))
	case atBegin:
		p.begin, _ = parseDigits(v)
	case atEnd:
		p.end, _ = parseDigits(v)
	}
}

func (p *parser) disposition(v []byte) string {
	switch string(v) {
	case "none":
		return "none"
	case "pass":
		return "pass"
	case "quarantine":
		return "quarantine"
	case "reject":
		return "reject"
	}
	p.warn(InvalidDisposition, v)
	return "none"
}

// passed reports whether an aligned identifier passed. Some reporters write results of the
// mechanism, such as "none", where the format has "fail".
func (p *parser) passed(v []byte) bool {
	if !bytes.Equal(v, []byte("pass")) && !bytes.Equal(v, []byte("fail")) {
		p.warn(InvalidResult, v)
	}
	return bytes.Equal(v, []byte("pass"))
}
