package sources_test

import (
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
	"pgregory.net/rapid"
)

var (
	drawnNames     = []string{"bakery.example", "em.bakery.example", "gmail.com", "sendgrid.net", "o1.sendgrid.net", "mailgun.org", "evil.example", "a.evil.example", "uni.example", "tenant.example", "xn--bcher-kva.example", "", "not a name"}
	drawnSelectors = []string{"mail2026", "google", "selector1", "km1", "hs1-77", "x", ""}
	drawnResults   = []string{"pass", "fail", "softfail", "neutral", "none", "temperror", "permerror", ""}
	drawnOverrides = []report.Reason{{Type: "forwarded"}, {Type: "mailing_list"}, {Type: "local_policy", Comment: "arc=pass"}, {Type: "other"}}
	drawnPTRs      = []string{"", "mail.bakery.example", "mx.uni.example", "o1.ptr.sendgrid.net", "198-18-7-7.isp.example", "x.amazonaws.com", "mail-1.google.com"}
	drawnIPs       = []string{ipOwn, ipGoogle, ipSendGrid, ipAcme, ipMailgun, ipMimecast, ipOutlook, ipForward, ipUnknown, ipUnknown6}
)

func drawEvidence(t *rapid.T) sources.Evidence {
	e := sources.Evidence{
		PTR:          rapid.SampledFrom(drawnPTRs).Draw(t, "ptr"),
		ASN:          rapid.SampledFrom([]uint32{0, 11377, 64500}).Draw(t, "asn"),
		DKIMAligned:  rapid.IntRange(0, 4).Draw(t, "dkim aligned") == 0,
		SPFAligned:   rapid.IntRange(0, 4).Draw(t, "spf aligned") == 0,
		EnvelopeFrom: rapid.SampledFrom(drawnNames).Draw(t, "envelope"),
		DKIM:         rapid.SliceOfN(rapid.Custom(drawSignature), 0, 5).Draw(t, "dkim"),
		SPF:          rapid.SliceOfN(rapid.Custom(drawSPF), 0, 3).Draw(t, "spf"),
		Overrides:    rapid.SliceOfN(rapid.SampledFrom(drawnOverrides), 0, 2).Draw(t, "overrides"),
	}
	if rapid.IntRange(0, 19).Draw(t, "no address") > 0 {
		e.IP = netip.MustParseAddr(rapid.SampledFrom(drawnIPs).Draw(t, "ip"))
	}
	if e.EnvelopeFrom != "" && rapid.Bool().Draw(t, "rewritten") {
		e.EnvelopeFrom = "SRS0=ab=cd=x.example=jo@" + e.EnvelopeFrom
	}
	return e
}

func drawSignature(t *rapid.T) report.Signature {
	return report.Signature{
		Domain:   rapid.SampledFrom(drawnNames).Draw(t, "domain"),
		Selector: rapid.SampledFrom(drawnSelectors).Draw(t, "selector"),
		Result:   rapid.SampledFrom(drawnResults).Draw(t, "result"),
	}
}

func drawSPF(t *rapid.T) report.SPFResult {
	return report.SPFResult{
		Domain: rapid.SampledFrom(drawnNames).Draw(t, "domain"),
		Scope:  rapid.SampledFrom([]string{"mfrom", "helo", ""}).Draw(t, "scope"),
		Result: rapid.SampledFrom(drawnResults).Draw(t, "result"),
	}
}

// TestIdentityIgnoresOrderAndCase checks that two receivers who list the same results in
// another order and in other letters report one source.
func TestIdentityIgnoresOrderAndCase(t *testing.T) {
	t.Parallel()
	identifier := sources.New(bakery(), knownSenders())
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvidence(t)
		want := identifier.Identify(e)
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		shuffle(random, e.DKIM)
		shuffle(random, e.SPF)
		shuffle(random, e.Overrides)
		for i := range e.DKIM {
			r := &e.DKIM[i]
			r.Domain, r.Selector, r.Result = otherForm(random, r.Domain), otherCase(random, r.Selector), otherCase(random, r.Result)
		}
		for i := range e.SPF {
			r := &e.SPF[i]
			r.Domain, r.Scope, r.Result = otherForm(random, r.Domain), otherCase(random, r.Scope), otherCase(random, r.Result)
		}
		for i := range e.Overrides {
			r := &e.Overrides[i]
			r.Type, r.Comment = otherCase(random, r.Type), otherCase(random, r.Comment)
		}
		e.PTR, e.EnvelopeFrom = otherForm(random, e.PTR), otherCase(random, e.EnvelopeFrom)
		if got := identifier.Identify(e); got != want {
			t.Fatalf("%+v, before %+v", got, want)
		}
	})
}

func shuffle[T any](random *rand.Rand, list []T) {
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

func otherCase(random *rand.Rand, text string) string {
	switch random.IntN(3) {
	case 0:
		return strings.ToUpper(text)
	case 1:
		return strings.ToUpper(text[:len(text)/2]) + text[len(text)/2:]
	}
	return text
}

// otherForm also uses U-labels and a final dot.
func otherForm(random *rand.Rand, name string) string {
	if name == "xn--bcher-kva.example" && random.IntN(2) == 0 {
		name = "bücher.example"
	}
	if name != "" && random.IntN(3) == 0 {
		name += "."
	}
	return otherCase(random, name)
}

// TestUnprovenSignaturesChangeNothing checks that a sender gains nothing by signatures that
// do not verify, and by SPF results of other domains that are not "pass".
func TestUnprovenSignaturesChangeNothing(t *testing.T) {
	t.Parallel()
	identifier := sources.New(bakery(), knownSenders())
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvidence(t)
		want := identifier.Identify(e)
		for _, claim := range rapid.SliceOfN(rapid.Custom(drawSignature), 1, 4).Draw(t, "claims") {
			if claim.Result != "pass" {
				e.DKIM = append(e.DKIM, claim)
			}
		}
		if got := identifier.Identify(e); got != want {
			t.Fatalf("%+v with claims, %+v without", got, want)
		}
	})
}

// TestTrustNeedsProof checks that a row without a proof of the domain is never Own or
// Authorised, unless the record of the domain or a confirmed name within it has the address.
func TestTrustNeedsProof(t *testing.T) {
	t.Parallel()
	domain := bakery()
	identifier := sources.New(domain, knownSenders())
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvidence(t)
		e.DKIMAligned, e.SPFAligned = false, false
		trusted := strings.HasSuffix(e.PTR, bakeryName)
		for _, listed := range domain.SPF.Networks {
			trusted = trusted || listed.Prefix.Contains(e.IP)
		}
		for i := range e.DKIM {
			if strings.HasSuffix(e.DKIM[i].Domain, bakeryName) {
				e.DKIM[i].Result = "fail"
			}
		}
		for i := range e.SPF {
			if strings.HasSuffix(e.SPF[i].Domain, bakeryName) && e.SPF[i].Result == "pass" {
				e.SPF[i].Result = "none"
			}
		}
		got := identifier.Identify(e)
		if !trusted && (got.Classification == sources.Own || got.Classification == sources.Authorised) {
			t.Fatalf("%+v", got)
		}
	})
}

// TestKeysKeepTheirMeaning checks that the beginning of a key says what kind of source it is,
// on every day: with and without what is known of DNS that day.
func TestKeysKeepTheirMeaning(t *testing.T) {
	t.Parallel()
	days := []*sources.Identifier{
		sources.New(bakery(), knownSenders()), sources.New(bakery(), nil), sources.New(sources.Domain{Name: bakeryName}, nil),
	}
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvidence(t)
		for _, identifier := range days {
			got := identifier.Identify(e)
			kind, _, _ := strings.Cut(got.Key, "/")
			var valid bool
			switch got.Classification {
			case sources.Own:
				valid = got.Key == "own"
			case sources.Forwarder:
				valid = kind == "forwarder"
			case sources.Authorised:
				valid = kind == "sender"
			case sources.Unknown:
				valid = kind == "sender" || kind == "net"
			case sources.Spoofing:
				valid = kind == "net"
			}
			if !valid || got.Name == "" {
				t.Fatalf("%+v", got)
			}
		}
	})
}
