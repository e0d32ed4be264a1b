package dmarcreports

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
)

const (
	// maxSources bounds the sources that are counted apart in one report.
	maxSources = 1 << 20
	// maxIPs bounds the addresses of a source that are counted.
	maxIPs = 1000
)

// figures are numbers of messages.
type figures struct {
	Messages uint64 `json:"messages"`
	Passed   uint64 `json:"passed"`
	Failed   uint64 `json:"failed"`
	// These are parts of Failed: what the receiver did with the messages.
	FailedAccepted    uint64 `json:"failed_accepted"`
	FailedQuarantined uint64 `json:"failed_quarantined"`
	FailedRejected    uint64 `json:"failed_rejected"`
	// These are parts of Passed.
	PassedBySPFOnly  uint64 `json:"passed_by_spf_only"`
	PassedByDKIMOnly uint64 `json:"passed_by_dkim_only"`
}

// add adds the messages of a record.
func (f *figures) add(r *report.Record) {
	f.Messages += r.Count
	switch {
	case r.DKIM && r.SPF:
		f.Passed += r.Count
	case r.DKIM:
		f.Passed, f.PassedByDKIMOnly = f.Passed+r.Count, f.PassedByDKIMOnly+r.Count
	case r.SPF:
		f.Passed, f.PassedBySPFOnly = f.Passed+r.Count, f.PassedBySPFOnly+r.Count
	default:
		f.Failed += r.Count
		switch r.Disposition {
		case "quarantine":
			f.FailedQuarantined += r.Count
		case "reject":
			f.FailedRejected += r.Count
		default:
			f.FailedAccepted += r.Count
		}
	}
}

// plus returns the sums of two.
func (f figures) plus(g figures) figures {
	return figures{
		f.Messages + g.Messages, f.Passed + g.Passed, f.Failed + g.Failed,
		f.FailedAccepted + g.FailedAccepted, f.FailedQuarantined + g.FailedQuarantined, f.FailedRejected + g.FailedRejected,
		f.PassedBySPFOnly + g.PassedBySPFOnly, f.PassedByDKIMOnly + g.PassedByDKIMOnly,
	}
}

// summary adds up the records of one report.
type summary struct {
	all figures
	// byIP counts each address apart, instead of the senders that are recognized.
	byIP        bool
	sources     map[string]*source
	identifiers map[string]*sources.Identifier // by the domain of the report
	// others has the messages of sources beyond maxSources.
	others figures
}

// source is a sender of messages, or an address.
type source struct {
	figures
	name string
	kind sources.Classification
	ips  map[netip.Addr]bool
	// signers are the domains whose DKIM signatures passed, and senders those that passed SPF.
	signers, senders []string
}

func newSummary(byIP bool) *summary {
	return &summary{byIP: byIP, sources: map[string]*source{}, identifiers: map[string]*sources.Identifier{}}
}

func (s *summary) add(r *report.Record) {
	s.all.add(r)
	at := s.of(r)
	if at == nil {
		s.others.add(r)
		return
	}
	at.add(r)
	if len(at.ips) < maxIPs {
		at.ips[r.SourceIP] = true
	}
	for _, signature := range r.Signatures {
		if signature.Result == "pass" {
			at.signers = with(at.signers, signature.Domain)
		}
	}
	for _, sender := range r.SPFResults {
		if sender.Result == "pass" {
			at.senders = with(at.senders, sender.Domain)
		}
	}
}

// of returns the source of a record, nil if there are too many.
func (s *summary) of(r *report.Record) *source {
	identity := s.identify(r)
	key := identity.Key
	if s.byIP {
		key, identity.Name = r.SourceIP.String(), r.SourceIP.String()
	}
	at := s.sources[key]
	if at == nil {
		if len(s.sources) == maxSources {
			return nil
		}
		at = &source{name: identity.Name, ips: map[netip.Addr]bool{}}
		s.sources[key] = at
	}
	at.kind = at.kind.Merge(identity.Classification)
	return at
}

// identify returns the sender of a record, as far as the report proves it: DNS is not asked.
func (s *summary) identify(r *report.Record) sources.Identity {
	about := cmp.Or(r.Domain, r.HeaderFrom)
	identifier := s.identifiers[about]
	if identifier == nil {
		identifier = sources.New(sources.Domain{Name: about}, nil)
		s.identifiers = map[string]*sources.Identifier{about: identifier} // a report has one domain
	}
	return identifier.Identify(sources.EvidenceOf(r))
}

// with returns a short list of names with one more, unless it has it.
func with(names []string, name string) []string {
	const most = 5
	if len(names) == most || slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

// first returns at most n sources: those with most failed messages, then those with most messages.
// rest are the figures of the others, and more is their number.
func (s *summary) first(n int) (list []printedSource, rest figures, more int) {
	all := slices.SortedFunc(maps.Values(s.sources), func(a, b *source) int {
		return cmp.Or(cmp.Compare(b.Failed, a.Failed), cmp.Compare(b.Messages, a.Messages), strings.Compare(a.name, b.name))
	})
	n = min(n, len(all))
	for _, at := range all[:n] {
		list = append(list, at.printed())
	}
	rest = s.others
	for _, at := range all[n:] {
		rest = rest.plus(at.figures)
	}
	return list, rest, len(all) - n
}

// printed returns the source in the form in which it is printed.
func (at *source) printed() printedSource {
	const shown = 3
	ips := slices.SortedFunc(maps.Keys(at.ips), netip.Addr.Compare)
	p := printedSource{
		Name: at.name, Kind: string(at.kind), figures: at.figures, IPCount: len(ips), IPs: []string{},
		DKIM: append([]string{}, at.signers...), SPF: append([]string{}, at.senders...),
	}
	for _, ip := range ips[:min(shown, len(ips))] {
		p.IPs = append(p.IPs, ip.String())
	}
	return p
}
