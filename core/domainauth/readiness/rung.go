package readiness

import "github.com/mailhelm/mailhelm/core/mailauth/dmarc"

// Handling is what the owner of a domain asks receivers to do now with failing mail: for the
// domain and for its subdomains that exist. While the owner tests (t=y), it is one level
// below the published policies. Both are empty if DMARC does not apply.
//
// The present policy of a domain began when its Handling last changed.
type Handling struct{ Domain, Subdomains dmarc.Policy }

// HandlingOf returns the Handling that DNS states for a domain. A domain without a record of
// its own has the one of the organizational domain's record.
func HandlingOf(d dmarc.Discovery) Handling {
	if !d.Applies() {
		return Handling{}
	}
	h := Handling{Domain: d.Handling(), Subdomains: d.Record.PolicyFor(true, true)}
	if d.Record.Testing {
		h.Subdomains = h.Subdomains.Relaxed()
	}
	return h
}

// Current returns the rung: the weaker of the two policies. It is empty if DMARC does not
// apply.
func (h Handling) Current() dmarc.Policy {
	if stricter(h.Domain, h.Subdomains) {
		return h.Subdomains
	}
	return h.Domain
}

// Next returns the policy of the next rung: none if DMARC does not apply, else the one above
// Current. It is never weaker than what the domain itself asks for already, so a domain with
// p=reject and sp=none goes to reject. It is empty at the last rung.
func (h Handling) Next() dmarc.Policy {
	var next dmarc.Policy
	switch h.Current() {
	case "":
		return dmarc.None
	case dmarc.None:
		next = dmarc.Quarantine
	case dmarc.Quarantine:
		next = dmarc.Reject
	default:
		return ""
	}
	if stricter(h.Domain, next) {
		return h.Domain
	}
	return next
}

// level orders the policies by strictness.
var level = map[dmarc.Policy]int{dmarc.None: 1, dmarc.Quarantine: 2, dmarc.Reject: 3}

// stricter reports whether a is stricter than b. The empty policy is the weakest.
func stricter(a, b dmarc.Policy) bool { return level[a] > level[b] }
