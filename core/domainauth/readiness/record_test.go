package readiness_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/domainauth/readiness"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
	"pgregory.net/rapid"
)

// diff returns changes in one line, such as "p none>quarantine, sp ->quarantine". A hyphen
// is an absent tag.
func diff(changes []readiness.Change) string {
	text := func(s *string) string {
		if s == nil {
			return "-"
		}
		return *s
	}
	var all []string
	for _, c := range changes {
		all = append(all, c.Tag+" "+text(c.From)+">"+text(c.To))
	}
	return strings.Join(all, ", ")
}

const ours = "mailto:reports@in.example.net"

// recordRules has the record to publish for a present one, and the differences.
var recordRules = []struct{ rule, present, record, diff string }{
	{
		"no record: the form with none", "",
		"v=DMARC1; p=none; sp=none; rua=" + ours, "v ->DMARC1, p ->none, sp ->none, rua ->" + ours,
	},
	{
		"sp is equal to p, the address of the service is added", atNone,
		"v=DMARC1; p=quarantine; sp=quarantine; rua=mailto:dmarc@example.com," + ours,
		"p none>quarantine, sp ->quarantine, rua mailto:dmarc@example.com>mailto:dmarc@example.com," + ours,
	},
	{
		"a record without rua gets one", "v=DMARC1; p=quarantine; sp=quarantine",
		"v=DMARC1; p=reject; sp=reject; rua=" + ours, "p quarantine>reject, sp quarantine>reject, rua ->" + ours,
	},
	{
		"the service's address is not added twice, whatever its case", "v=DMARC1; p=none; rua=mailto:Reports@in.Example.net!10m, mailto:b@example.com",
		"v=DMARC1; p=quarantine; sp=quarantine; rua=mailto:Reports@in.Example.net!10m, mailto:b@example.com", "p none>quarantine, sp ->quarantine",
	},
	{
		"header fields of a report URI do not matter", "v=DMARC1; p=none; rua=mailto:reports@in.example.net?subject=r",
		"v=DMARC1; p=quarantine; sp=quarantine; rua=mailto:reports@in.example.net?subject=r", "p none>quarantine, sp ->quarantine",
	},
	{
		"of several report URIs only the valid ones stay", "v=DMARC1; p=none; rua=mailto:a@example.com, postmaster, https://example.com/r",
		"v=DMARC1; p=quarantine; sp=quarantine; rua=mailto:a@example.com,https://example.com/r," + ours,
		"p none>quarantine, sp ->quarantine, rua mailto:a@example.com, postmaster, https://example.com/r>mailto:a@example.com,https://example.com/r," + ours,
	},
	{
		"unchanged and unknown tags stay in their order", "v=DMARC1; x-b=1; p=none; adkim=s; ruf=mailto:f@example.com; fo=1; aspf=r; ri=86400; psd=n; t=n; rua=" + ours,
		"v=DMARC1; p=quarantine; sp=quarantine; rua=" + ours + "; x-b=1; adkim=s; ruf=mailto:f@example.com; fo=1; aspf=r; ri=86400; psd=n; t=n",
		"p none>quarantine, sp ->quarantine",
	},
	{
		"pct is removed", "v=DMARC1; p=quarantine; sp=quarantine; pct=25; rua=" + ours,
		"v=DMARC1; p=reject; sp=reject; rua=" + ours, "p quarantine>reject, sp quarantine>reject, pct 25>-",
	},
	{
		"t=y is removed, and the policy comes into effect", "v=DMARC1; p=quarantine; sp=quarantine; t=y; rua=" + ours,
		"v=DMARC1; p=quarantine; sp=quarantine; rua=" + ours, "t y>-",
	},
	{
		"an np weaker than the target is removed", "v=DMARC1; p=none; np=none; rua=" + ours,
		"v=DMARC1; p=quarantine; sp=quarantine; rua=" + ours, "p none>quarantine, sp ->quarantine, np none>-",
	},
	{
		"an np as strong as the target stays", "v=DMARC1; p=none; np=Quarantine; rua=" + ours,
		"v=DMARC1; p=quarantine; sp=quarantine; rua=" + ours + "; np=Quarantine", "p none>quarantine, sp ->quarantine",
	},
	{
		"sp is equal to p also where it was stronger", "v=DMARC1; p=none; sp=reject; rua=" + ours,
		"v=DMARC1; p=quarantine; sp=quarantine; rua=" + ours, "p none>quarantine, sp reject>quarantine",
	},
	{
		"sp catches up with p", "v=DMARC1; p=reject; sp=none; rua=" + ours,
		"v=DMARC1; p=reject; sp=reject; rua=" + ours, "sp none>reject",
	},
	{
		"invalid and repeated tags are removed", "v=DMARC1; p=none; adkim=x; aspf=s; aspf=r; ri=1; ri=2; rua=" + ours,
		"v=DMARC1; p=quarantine; sp=quarantine; rua=" + ours, "p none>quarantine, sp ->quarantine, adkim x>-, aspf s; aspf=r>-, ri 1; ri=2>-",
	},
	{
		"tags that differ from known ones in case, and unsafe ones, are removed", "v=DMARC1; p=none; P=reject; x y=1; z=\u00e9; stray; rua=" + ours,
		"v=DMARC1; p=quarantine; sp=quarantine; rua=" + ours, "p none>quarantine, sp ->quarantine, P reject>-, x y 1>-, z \u00e9>-",
	},
	{
		"a record to which DMARC does not apply keeps what is usable", "v=DMARC1; p=all; adkim=s",
		"v=DMARC1; p=none; sp=none; rua=" + ours + "; adkim=s", "p all>none, sp ->none, rua ->" + ours,
	},
}

func TestRecords(t *testing.T) {
	t.Parallel()
	for _, tc := range recordRules {
		a := readiness.Assess(complete(t, tc.present))
		if !a.Ready || a.Record != tc.record || diff(a.Changes) != tc.diff {
			t.Errorf("%s: ready %t\n record %s\n   want %s\n   diff %s\n   want %s", tc.rule, a.Ready, a.Record, tc.record, diff(a.Changes), tc.diff)
		}
	}
}

// TestRecordOfSubdomain checks the record of a domain that inherits one: it has the tags of
// that record without psd, and everything in it is new at its name.
func TestRecordOfSubdomain(t *testing.T) {
	t.Parallel()
	f := complete(t, "")
	f.Published = discovered(t, zone{"_dmarc.example.com": "v=DMARC1; p=reject; sp=none; adkim=s; psd=n; rua=mailto:dmarc@example.com", "mail.example.com": ""}, "mail.example.com")
	a := readiness.Assess(f)
	const record = "v=DMARC1; p=quarantine; sp=quarantine; rua=mailto:dmarc@example.com," + ours + "; adkim=s"
	const want = "v ->DMARC1, p ->quarantine, sp ->quarantine, rua ->mailto:dmarc@example.com," + ours + ", adkim ->s"
	if a.Record != record || diff(a.Changes) != want {
		t.Errorf("record %s\ndiff %s", a.Record, diff(a.Changes))
	}
}

func TestRecordWithoutReportAddress(t *testing.T) {
	t.Parallel()
	f := complete(t, atNone)
	f.ReportAddress = ""
	if a := readiness.Assess(f); a.Record != "v=DMARC1; p=quarantine; sp=quarantine; rua=mailto:dmarc@example.com" {
		t.Errorf("record %s", a.Record)
	}
	f.Published = published(t, "v=DMARC1; p=none")
	if a := readiness.Assess(f); a.Record != "v=DMARC1; p=quarantine; sp=quarantine" {
		t.Errorf("record %s", a.Record)
	}
}

// TestRecordsMeanTheTarget publishes the recommended records of drawn records until the last
// rung. Each must parse, have its target as p and sp, keep every report URI, be reached in
// at most four steps, and differ from the record before it exactly by the changes.
func TestRecordsMeanTheTarget(t *testing.T) {
	t.Parallel()
	tags := rapid.SliceOfN(rapid.SampledFrom([]string{
		"p=none", "p=quarantine", "p=reject", "p=bogus", "sp=none", "sp=quarantine", "sp=reject", "np=none", "np=reject", "t=y", "t=n", "pct=50",
		"adkim=s", "aspf=x", "rua=mailto:a@example.com", "rua=mailto:b@example.com,mailto:c@example.com", "rua=nothing", "ruf=mailto:f@example.com", "fo=1:d",
		"psd=n", "x=1", "x=2", "P=none", " y = 2 ", "", "stray", "v=DMARC1", "=", "z=",
	}), 0, 8)
	rapid.Check(t, func(rt *rapid.T) {
		text := "v=DMARC1; " + strings.Join(tags.Draw(rt, "tags"), ";")
		f := complete(t, text)
		for range 4 {
			before := f.Published
			a := readiness.Assess(f)
			if a.Target == "" {
				return
			}
			f.Published = published(t, a.Record)
			record := f.Published.Record
			if record.Policy != a.Target || record.SubdomainPolicy != a.Target || record.Testing || len(record.Invalid) > 0 || strings.Contains(a.Record, "pct") {
				rt.Fatalf("%s\nleads to %s", before.Record.Text, a.Record)
			}
			if h := readiness.HandlingOf(f.Published); h.Current() != a.Target {
				rt.Fatalf("%s\nleads to %s, which is at %s", before.Record.Text, a.Record, h.Current())
			}
			for _, uri := range append(before.Record.AggregateURIs, ours) {
				if !strings.Contains(a.Record, uri) {
					rt.Fatalf("%s\nleads to %s without %s", before.Record.Text, a.Record, uri)
				}
			}
			if missing := wrongChange(before.Record.Text, a); missing != "" {
				rt.Fatalf("%s\nleads to %s: %s", before.Record.Text, a.Record, missing)
			}
		}
		if next := readiness.HandlingOf(f.Published).Next(); next != "" {
			rt.Fatalf("%s does not reach the last rung", text)
		}
	})
}

// wrongChange compares the changes of an assessment with the tags of the present record and
// of the new one. It returns "" if they are right.
func wrongChange(present string, a readiness.Assessment) string {
	values := func(text string) map[string]string {
		all := map[string]string{}
		tags, _ := dmarc.Tags(text)
		for _, tag := range tags {
			if before, ok := all[tag.Name]; ok {
				tag.Value = before + "; " + tag.Name + "=" + tag.Value
			}
			all[tag.Name] = tag.Value
		}
		return all
	}
	from, to := values(present), values(a.Record)
	for _, c := range a.Changes {
		old, before := from[c.Tag]
		value, after := to[c.Tag]
		if before != (c.From != nil) || after != (c.To != nil) || before && *c.From != old || after && *c.To != value {
			return "wrong change of " + c.Tag
		}
		if before && after && old == value {
			return c.Tag + " did not change"
		}
		delete(from, c.Tag)
		delete(to, c.Tag)
	}
	for tag, old := range from {
		if to[tag] != old {
			return "no change of " + tag
		}
		delete(to, tag)
	}
	for tag := range to {
		return "no change for the new tag " + tag
	}
	return ""
}
