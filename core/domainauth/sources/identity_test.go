package sources_test

import (
	"net/netip"
	"reflect"
	"testing"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
)

func TestNames(t *testing.T) {
	t.Parallel()
	identifier := sources.New(bakery(), knownSenders())
	for _, tc := range []struct {
		evidence sources.Evidence
		want     sources.Identity
	}{
		{row(ipOwn, bakeryName, "pass"), sources.Identity{Key: "own", Name: "Own mail of bakery.example", Classification: sources.Own}},
		{row(ipGoogle, bakeryName, "pass"), sources.Identity{Key: "sender/google.com", Name: "Google Workspace", Provider: "google_workspace", Classification: sources.Authorised}},
		{row(ipMimecast, bakeryName, "fail"), sources.Identity{Key: "forwarder/mimecast.com", Name: "Forwarded by Mimecast", Provider: "mimecast", Classification: sources.Forwarder}},
		{row(ipAcme, bakeryName, "pass"), sources.Identity{Key: "sender/acme-mail.example", Name: "acme-mail.example", Classification: sources.Authorised}},
		{
			overridden(row(ipUnknown, "l.example", "pass"), "mailing_list", ""),
			sources.Identity{Key: "forwarder/l.example", Name: "Forwarded by l.example", Classification: sources.Forwarder},
		},
		{row(ipUnknown, bakeryName, "fail"), sources.Identity{Key: "net/198.18.7.0/24", Name: "198.18.7.0/24", Classification: sources.Spoofing}},
		{
			named(row(ipUnknown, bakeryName, "fail"), "static.7.7.18.198.clients.your-server.de"),
			sources.Identity{Key: "net/198.18.7.0/24", Name: "198.18.7.0/24 at Hetzner", Classification: sources.Unknown},
		},
		{
			overridden(row(ipUnknown, bakeryName, "fail"), "forwarded", ""),
			sources.Identity{Key: "forwarder/198.18.7.0/24", Name: "Forwarded by 198.18.7.0/24", Classification: sources.Forwarder},
		},
		{sources.Evidence{}, sources.Identity{Key: "net/unknown", Name: "an address that was not reported", Classification: sources.Spoofing}},
	} {
		if got := identifier.Identify(tc.evidence); got != tc.want {
			t.Errorf("%+v, want %+v", got, tc.want)
		}
	}
}

// TestGeneratedNames checks which reverse names do not say who sends, because they were made
// from the address.
func TestGeneratedNames(t *testing.T) {
	t.Parallel()
	identifier := sources.New(bakery(), nil)
	for _, tc := range []struct {
		ip, ptr   string
		generated bool
	}{
		{"198.18.7.9", "198-18-7-9.isp.example", true},
		{"198.18.7.9", "host9.7.18.198.isp.example", true},
		{"198.18.7.9", "p018-007-009.isp.example", true},
		{"198.18.7.9", "c6120709.dip.isp.example", true},
		{"198.0.0.90", "host-0-0-90.isp.example", true},
		{"90.19.9.3", "90.19.9.isp.example", true},
		{"198.18.7.9", "9.isp.example", false},
		{"198.18.7.9", "mail-7-9.isp.example", false},
		{"198.18.7.9", "mail-18-9-7.isp.example", false},
		{"198.18.7.9", "mail1234567890123456789.isp.example", false},
		{"2001:db8::25", "20010db8000000000000000000000025.isp.example", true},
		{"2001:db8::25", "5.2.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.isp.example", true},
		{"2001:db8::25", "2001-db8-25.isp.example", false},
	} {
		got := identifier.Identify(named(row(tc.ip, bakeryName, "fail"), tc.ptr))
		if want := "sender/isp.example"; (got.Key != want) != tc.generated {
			t.Errorf("%s of %s: %s", tc.ptr, tc.ip, got.Key)
		}
	}
}

// TestOrganizationalDomain checks the names that belong to the owner of a domain.
func TestOrganizationalDomain(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, organization, signer string
		key                        string
	}{
		{"bakery.example", "", "shop.bakery.example", "own"},
		{"Bakery.Example.", "", "bakery.example", "own"},
		{"bakery.example", "", "notbakery.example", "sender/notbakery.example"},
		{"shop.bakery.example", "bakery.example", "bakery.example", "own"},
		{"shop.bakery.example", "", "bakery.example", "sender/bakery.example"},
		{"bakery.example", "example.org", "example.org", "sender/example.org"},
		{"bücher.example", "", "xn--bcher-kva.example", "own"},
		{"xn--bcher-kva.example", "", "mail.BÜCHER.example", "own"},
		{"sendgrid.net", "", "sendgrid.net", "own"},
		{"", "", "bakery.example", "sender/bakery.example"},
		{"not a name", "", "bakery.example", "sender/bakery.example"},
	} {
		identifier := sources.New(sources.Domain{Name: tc.name, Organization: tc.organization, Selectors: []string{"MAIL "}}, nil)
		got := identifier.Identify(sources.Evidence{IP: netip.MustParseAddr(ipUnknown), DKIM: []report.Signature{signed(tc.signer, "mail")}})
		if got.Key != tc.key {
			t.Errorf("%q of %q: signed by %s is %s, want %s", tc.name, tc.organization, tc.signer, got.Key, tc.key)
		}
	}
}

// TestIncludesOfTheOwner checks whose networks are that records of the domain itself include.
func TestIncludesOfTheOwner(t *testing.T) {
	t.Parallel()
	for key, path := range map[string][]string{
		"own":                      {"_spf.bakery.example"},
		"sender/acme-mail.example": {"_SPF.Bakery.Example", "not a name", "spf.acme-mail.example", "spf.other.example"},
		"sender/mailgun.org":       {"spf.acme-mail.example", "mailgun.org", "_spf.mailgun.org"},
	} {
		domain := sources.Domain{Name: bakeryName, SPF: sources.Expansion{All: sources.Fail, Networks: []sources.Network{network("198.18.7.0/24", path...)}}}
		if got := sources.New(domain, nil).Identify(row(ipUnknown, bakeryName, "pass")); got.Key != key {
			t.Errorf("included by %v: %s, want %s", path, got.Key, key)
		}
	}
}

func TestDomainsThatAreNotNames(t *testing.T) {
	t.Parallel()
	domain := bakery()
	domain.Name = "[Bakery]"
	if got := sources.New(domain, nil).Identify(row(ipOwn, "[Bakery]", "none")); got.Key != "own" || got.Name != "Own mail of [Bakery]" {
		t.Errorf("%+v", got)
	}
}

// TestExclusion checks when an address without proofs counts as spoofing: if the record of
// the domain excludes it or, as long as the record is not known, if the receiver says so.
func TestExclusion(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		all    sources.Qualifier
		result string
		want   sources.Classification
	}{
		{sources.Fail, "none", sources.Spoofing},
		{sources.SoftFail, "temperror", sources.Spoofing},
		{sources.Neutral, "fail", sources.Unknown},
		{sources.Pass, "none", sources.Unknown},
		{"", "fail", sources.Spoofing},
		{"", "SoftFail", sources.Spoofing},
		{"", "neutral", sources.Unknown},
		{"", "permerror", sources.Unknown},
		{"", "none", sources.Unknown},
	} {
		identifier := sources.New(sources.Domain{Name: bakeryName, SPF: sources.Expansion{All: tc.all}}, nil)
		if got := identifier.Identify(row(ipUnknown, bakeryName, tc.result)); got.Classification != tc.want || got.Key != "net/198.18.7.0/24" {
			t.Errorf("all %q, result %s: %s, %s", tc.all, tc.result, got.Key, got.Classification)
		}
	}
}

// TestKeysSurviveAuthorization checks that the key of a sender stays when the owner adds it to
// the SPF record, and when a service replaces the names in that record by its own.
func TestKeysSurviveAuthorization(t *testing.T) {
	t.Parallel()
	e := row(ipMailgun, "mailgun.org", "pass", signed("mailgun.org", "x"))
	for _, path := range [][]string{nil, {"mailgun.org"}, {"_u.bakery.example.flatten.example"}} {
		domain := bakery()
		want := sources.Unknown
		if path != nil {
			domain.SPF.Networks = append(domain.SPF.Networks, network("192.0.2.0/27", path...))
			want = sources.Authorised
		}
		got := sources.New(domain, knownSenders()).Identify(e)
		if got.Key != "sender/mailgun.org" || got.Classification != want {
			t.Errorf("included by %v: %s, %s", path, got.Key, got.Classification)
		}
	}
}

func TestEvidenceOf(t *testing.T) {
	t.Parallel()
	record := report.Record{
		SourceIP: netip.MustParseAddr(ipUnknown), Count: 7, Disposition: "none", DKIM: true, SPF: true,
		Reasons:    []report.Reason{{Type: "forwarded", Comment: "x"}},
		HeaderFrom: bakeryName, EnvelopeFrom: "tenant.example",
		Signatures: []report.Signature{signed(bakeryName, "mail2026")}, SPFResults: []report.SPFResult{{Domain: "tenant.example", Result: "pass"}},
	}
	want := sources.Evidence{
		IP: record.SourceIP, DKIM: record.Signatures, SPF: record.SPFResults, DKIMAligned: true, SPFAligned: true,
		EnvelopeFrom: "tenant.example", Overrides: record.Reasons,
	}
	if got := sources.EvidenceOf(&record); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	order := []sources.Classification{sources.Own, sources.Authorised, sources.Forwarder, sources.Unknown, sources.Spoofing, ""}
	for i, first := range order {
		for _, second := range order[i:] {
			if first.Merge(second) != first || second.Merge(first) != first {
				t.Errorf("%q and %q are %q and %q", first, second, first.Merge(second), second.Merge(first))
			}
		}
	}
}
