package sources

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
)

// proofs has what a receiver verified about a row. It does not depend on the order of the
// results.
type proofs struct {
	ip netip.Addr
	// aligned means that SPF passed for the domain.
	aligned bool
	// failed means that SPF of the domain did not pass, and excluded that its record excludes
	// the address.
	failed, excluded bool
	// foreign means that the envelope sender has another domain.
	foreign bool
	// envelope is another domain for which SPF passed, or empty.
	envelope string
	// relayed means that the receiver or the envelope sender says that the mail was forwarded.
	relayed bool

	// key means that a signature of the domain is valid, and ownSelector that its key is the
	// owner's. hinted is the known sender whose customers publish such a key, or nil.
	key, ownSelector bool
	hinted           *sender
	// signer is a party that is not in the table, and provider one that is, whose signatures
	// are valid. signed means that the operator of the address is one of them.
	signer, provider party
	signed           bool
}

// passed reports whether a reported result is "pass".
func passed(result string) bool {
	return result == "pass" || strings.EqualFold(strings.TrimSpace(result), "pass")
}

// readSPF reads the results of SPF, the envelope sender and the overrides.
func (i *Identifier) readSPF(e *Evidence, p *proofs) {
	p.ip = canonical(e.IP)
	p.aligned = e.SPFAligned
	var envelope, helo string // domains for which SPF passed
	sender := normal(strings.TrimRight(e.EnvelopeFrom[strings.LastIndexByte(e.EnvelopeFrom, '@')+1:], "> "))
	p.foreign = sender != "" && !within(sender, i.organization)
	for _, result := range e.SPF {
		name := normal(result.Domain)
		if name == "" {
			continue
		}
		pass, own := passed(result.Result), within(name, i.organization)
		isHelo := strings.EqualFold(strings.TrimSpace(result.Scope), "helo")
		switch {
		case own && pass:
			p.aligned = true
		case own:
			i.readFailure(result.Result, p)
		case pass && isHelo:
			helo = first(helo, name)
		case pass:
			envelope = first(envelope, name)
		}
		if sender == "" && !isHelo && !own {
			p.foreign = true
		}
	}
	if p.envelope = envelope; envelope == "" {
		p.envelope = helo
	}
	p.relayed = slices.ContainsFunc(e.Overrides, saysForwarded) ||
		p.foreign && sender != "" && sender == envelope && rewritten(e.EnvelopeFrom)
}

// first returns the name that is first in the alphabet, without regard to an empty one.
func first(a, b string) string {
	if a == "" || b < a {
		return b
	}
	return a
}

// readFailure reads an SPF result of the domain that is not "pass". A result that is no answer
// of the record says nothing.
func (i *Identifier) readFailure(result string, p *proofs) {
	switch {
	case equal(result, "fail"), equal(result, "softfail"), equal(result, "hardfail"):
		p.failed, p.excluded = true, true
	case equal(result, "neutral"):
		p.failed = true
	}
}

func equal(reported, word string) bool {
	return strings.EqualFold(strings.TrimSpace(reported), word)
}

// saysForwarded reports whether a receiver says that mail was forwarded: by the type of the
// override, or by a valid chain of ARC (RFC 8617) that it trusted.
func saysForwarded(o report.Reason) bool {
	switch {
	case equal(o.Type, "forwarded"), equal(o.Type, "mailing_list"), equal(o.Type, "trusted_forwarder"):
		return true
	case !equal(o.Type, "local_policy"), o.Comment == "":
		return false
	}
	comment := strings.ToLower(o.Comment)
	_, after, found := strings.Cut(comment, "arc=pass")
	return found && (after == "" || !isWord(after[0]))
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// rewritten reports whether a forwarder wrote the envelope sender: the sender rewriting scheme
// (SRS0, SRS1), the form of Microsoft 365 (+SRS=) or that of Gmail (+caf_=).
func rewritten(address string) bool {
	local := strings.ToLower(strings.TrimLeft(address[:max(0, strings.LastIndexByte(address, '@'))], "< "))
	if len(local) > 4 && (strings.HasPrefix(local, "srs0") || strings.HasPrefix(local, "srs1")) {
		return strings.IndexByte("=+-", local[4]) >= 0
	}
	return strings.Contains(local, "+srs=") || strings.Contains(local, "+caf_=")
}

// readDKIM reads the valid signatures.
func (i *Identifier) readDKIM(e *Evidence, p *proofs, by party) {
	p.key = e.DKIMAligned
	for _, result := range e.DKIM {
		if !passed(result.Result) {
			continue
		}
		name := normal(result.Domain)
		switch {
		case name == "":
		case within(name, i.organization):
			p.key = true
			i.readSelector(result.Selector, p)
		default:
			i.readSigner(known().ofDomain(name), p, by)
		}
	}
}

func (i *Identifier) readSelector(selector string, p *proofs) {
	selector = strings.ToLower(strings.TrimSuffix(strings.TrimSpace(selector), "."))
	if slices.Contains(i.selectors, selector) {
		p.ownSelector = true
	}
	if s := known().ofSelector(selector); s != nil && (p.hinted == nil || s.domain < p.hinted.domain) {
		p.hinted = s
	}
}

// readSigner keeps the preferred one of the parties with valid signatures: the operator of the
// address, then for known senders by kind, then by domain.
func (i *Identifier) readSigner(q party, p *proofs, by party) {
	kept := &p.signer
	if q.listed() {
		kept = &p.provider
	}
	matches := q.domain == by.domain
	p.signed = p.signed || matches
	switch {
	case !kept.found() || matches:
	case kept.domain == by.domain:
		return
	case rank(q) != rank(*kept):
		if rank(q) > rank(*kept) {
			return
		}
	case q.domain >= kept.domain:
		return
	}
	*kept = q
}

func rank(p party) int { return slices.Index(kinds, p.kind()) }
