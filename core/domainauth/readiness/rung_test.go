package readiness_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/domainauth/readiness"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

func TestRungs(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rule, record  string
		current, next dmarc.Policy
	}{
		{"no record: first publish one that asks for reports", "", "", dmarc.None},
		{"a record to which DMARC does not apply counts as no record", "v=DMARC1; p=all", "", dmarc.None},
		{"a record with an unusable policy and a report address is none", "v=DMARC1; p=all; rua=mailto:a@example.com", dmarc.None, dmarc.Quarantine},
		{"none goes to quarantine", "v=DMARC1; p=none", dmarc.None, dmarc.Quarantine},
		{"quarantine goes to reject", "v=DMARC1; p=quarantine", dmarc.Quarantine, dmarc.Reject},
		{"reject is the last rung", "v=DMARC1; p=reject", dmarc.Reject, ""},
		{"t=y at quarantine is none", "v=DMARC1; p=quarantine; t=y", dmarc.None, dmarc.Quarantine},
		{"t=y at reject is quarantine", "v=DMARC1; p=reject; t=y", dmarc.Quarantine, dmarc.Reject},
		{"t=y at none changes nothing", "v=DMARC1; p=none; t=y", dmarc.None, dmarc.Quarantine},
		{"t=n changes nothing", "v=DMARC1; p=reject; t=n", dmarc.Reject, ""},
		{"sp weaker than p: subdomains catch up", "v=DMARC1; p=quarantine; sp=none", dmarc.None, dmarc.Quarantine},
		{"sp=none at reject: p is not weakened", "v=DMARC1; p=reject; sp=none", dmarc.None, dmarc.Reject},
		{"sp=quarantine at reject", "v=DMARC1; p=reject; sp=quarantine", dmarc.Quarantine, dmarc.Reject},
		{"sp=none at reject with t=y: what is asked of receivers goes up by one", "v=DMARC1; p=reject; sp=none; t=y", dmarc.None, dmarc.Quarantine},
		{"sp weaker than p with t=y: both are one level below", "v=DMARC1; p=reject; sp=quarantine; t=y", dmarc.None, dmarc.Quarantine},
		{"sp stronger than p: p decides", "v=DMARC1; p=none; sp=reject", dmarc.None, dmarc.Quarantine},
		{"np does not count", "v=DMARC1; p=reject; np=none", dmarc.Reject, ""},
		{"pct does not count", "v=DMARC1; p=quarantine; pct=10", dmarc.Quarantine, dmarc.Reject},
	} {
		h := readiness.HandlingOf(published(t, tc.record))
		if h.Current() != tc.current || h.Next() != tc.next {
			t.Errorf("%s: %q is at %q and goes to %q", tc.rule, tc.record, h.Current(), h.Next())
		}
		f := complete(t, tc.record)
		if a := readiness.Assess(f); a.Current != tc.current || a.Target != tc.next {
			t.Errorf("%s: the assessment of %q has %q and %q", tc.rule, tc.record, a.Current, a.Target)
		}
	}
}

func TestRungsOfSubdomains(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rule          string
		zone          zone
		current, next dmarc.Policy
	}{
		{"a subdomain inherits sp", zone{"_dmarc.example.com": "v=DMARC1; p=reject; sp=quarantine", "mail.example.com": ""}, dmarc.Quarantine, dmarc.Reject},
		{"a subdomain that does not exist inherits np, the ones below it sp", zone{"_dmarc.example.com": "v=DMARC1; p=reject; sp=none; np=reject"}, dmarc.None, dmarc.Reject},
		{"a record of its own counts alone", zone{"_dmarc.example.com": "v=DMARC1; p=reject", "_dmarc.mail.example.com": "v=DMARC1; p=none"}, dmarc.None, dmarc.Quarantine},
	} {
		h := readiness.HandlingOf(discovered(t, tc.zone, "mail.example.com"))
		if h.Current() != tc.current || h.Next() != tc.next {
			t.Errorf("%s: at %q, goes to %q", tc.rule, h.Current(), h.Next())
		}
	}
}

// TestNextRungIsNeverWeaker checks all policies of a domain and its subdomains: the next
// rung weakens neither of the two, except subdomains that are stricter than the domain.
func TestNextRungIsNeverWeaker(t *testing.T) {
	t.Parallel()
	level := map[dmarc.Policy]int{"": 0, dmarc.None: 1, dmarc.Quarantine: 2, dmarc.Reject: 3}
	all := []dmarc.Policy{dmarc.None, dmarc.Quarantine, dmarc.Reject}
	for _, p := range all {
		for _, sp := range all {
			h := readiness.Handling{Domain: p, Subdomains: sp}
			next := h.Next()
			if done := p == dmarc.Reject && sp == dmarc.Reject; done != (next == "") {
				t.Errorf("p=%s sp=%s: next %q", p, sp, next)
			}
			if next != "" && (level[next] < level[p] || level[next] <= level[h.Current()]) {
				t.Errorf("p=%s sp=%s: next %q", p, sp, next)
			}
		}
	}
}
