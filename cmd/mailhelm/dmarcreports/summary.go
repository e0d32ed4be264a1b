package dmarcreports

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
)

// maxSources bounds the addresses that are counted apart in one report.
const maxSources = 1 << 20

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
	all     figures
	sources map[netip.Addr]*source
	// others has the messages of addresses beyond maxSources.
	others figures
}

// source is an address that sent messages.
type source struct {
	figures
	// signers are the domains whose DKIM signatures passed, and senders those that passed SPF.
	signers, senders []string
}

func newSummary() *summary { return &summary{sources: map[netip.Addr]*source{}} }

func (s *summary) add(r *report.Record) {
	s.all.add(r)
	at := s.sources[r.SourceIP]
	if at == nil {
		if len(s.sources) == maxSources {
			s.others.add(r)
			return
		}
		at = &source{}
		s.sources[r.SourceIP] = at
	}
	at.add(r)
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
	ips := slices.SortedFunc(maps.Keys(s.sources), func(a, b netip.Addr) int {
		one, other := s.sources[a], s.sources[b]
		return cmp.Or(cmp.Compare(other.Failed, one.Failed), cmp.Compare(other.Messages, one.Messages), a.Compare(b))
	})
	n = min(n, len(ips))
	for _, ip := range ips[:n] {
		at := s.sources[ip]
		list = append(list, printedSource{ip.String(), at.figures, strings.Join(at.signers, " "), strings.Join(at.senders, " ")})
	}
	rest = s.others
	for _, ip := range ips[n:] {
		rest = rest.plus(s.sources[ip].figures)
	}
	return list, rest, len(ips) - n
}
