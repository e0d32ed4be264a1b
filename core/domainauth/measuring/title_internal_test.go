package measuring

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
)

func TestTitles(t *testing.T) {
	t.Parallel()
	const policy, setup = timeline.PolicyChange, timeline.SetupChange
	const absent = "absent"
	for _, tc := range []struct {
		kind                timeline.Kind
		subject             string
		before, after, want string
	}{
		{policy, "_dmarc.a.example", "v=DMARC1; p=none", "v=DMARC1; p=quarantine", "The policy went from none to quarantine"},
		{policy, "_dmarc.a.example", absent, "v=DMARC1; p=none", "A DMARC record was published, with the policy none"},
		{policy, "_dmarc.a.example", absent, "v=DMARC1; p=nothing", "A DMARC record without a valid policy was published"},
		{policy, "_dmarc.a.example", "v=DMARC1; p=none", absent, "The DMARC record was removed"},
		{policy, "_dmarc.a.example", "v=DMARC1; p=reject", "v=DMARC1; p=rejekt", "The policy went from reject to no valid one"},
		{policy, "_dmarc.a.example", "v=DMARC1; p=reject; sp=none", "v=DMARC1; p=reject", "The policy for subdomains went from none to reject"},
		{
			policy, "_dmarc.a.example", "v=DMARC1; p=none", "v=DMARC1; p=reject; sp=quarantine; t=y; adkim=s; aspf=s; rua=mailto:a@a.example",
			"The policy went from none to reject, the policy for subdomains went from none to quarantine, test mode (t=y) was switched on, and more",
		},
		{policy, "_dmarc.a.example", "v=DMARC1; p=none; t=y", "v=DMARC1; p=none", "Test mode (t=y) was switched off"},
		{policy, "_dmarc.a.example", "v=DMARC1; p=none; rua=mailto:a@a.example", "v=DMARC1; p=none; rua=mailto:b@a.example", "The report addresses changed"},
		{policy, "_dmarc.a.example", "v=DMARC1; p=none; fo=1", "v=DMARC1; p=none; fo=0", "The DMARC record changed, and its policy did not"},
		{policy, "_dmarc.example", "v=DMARC1; p=none", absent, "The DMARC record was removed (record of example)"},
		{setup, "a.example", absent, "v=spf1 -all", "An SPF record was published"},
		{setup, "a.example", "v=spf1 -all", absent, "The SPF record was removed"},
		{setup, "a.example", "v=spf1 mx -all", "v=spf1 include:b.example -all", "The SPF record changed, added include:b.example, removed mx"},
		{setup, "a.example", "v=spf1 mx a -all", "v=spf1 a mx -all", "The SPF record changed"},
		{setup, "a.example", "v=spf1 -all", "v=spf1 \u202Emx -all", "The SPF record changed, added ?mx"},
		{setup, "s1._domainkey.a.example", absent, "s1.dkim.mailer.example", "A DKIM key was published: s1"},
		{setup, "s1._domainkey.a.example", "x", "y", "A DKIM key changed: s1"},
		{setup, "s1._domainkey.example", "x", absent, "A DKIM key was removed: s1 (record of example)"},
		{setup, "a.example", "v=spf1 -all", "v=spf1 " + strings.Repeat("include:b.example ", 99) + "-all", ""},
	} {
		e := timeline.Event{Kind: tc.kind, Subject: tc.subject}
		if tc.before != absent {
			e.Old = &tc.before
		}
		if tc.after != absent {
			e.New = &tc.after
		}
		got := titleOf(e, "a.example")
		if tc.want != "" && got != tc.want || len(got) > maxTitle {
			t.Errorf("%s to %s: %q, want %q", tc.before, tc.after, got, tc.want)
		}
	}
}
