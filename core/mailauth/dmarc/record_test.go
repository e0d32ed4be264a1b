package dmarc_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// defaults returns the record for "v=DMARC1; p=<policy>".
func defaults(policy dmarc.Policy) dmarc.Record {
	return dmarc.Record{Policy: policy, DKIMAlignment: dmarc.Relaxed, SPFAlignment: dmarc.Relaxed, PSD: dmarc.Undeclared}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]func(*dmarc.Record){
		"v=DMARC1; p=none":           func(r *dmarc.Record) { r.Policy = dmarc.None },
		"v=DMARC1;p=reject;":         func(*dmarc.Record) {},
		"V \t= DMARC1 ; p = Reject ": func(*dmarc.Record) {},
		"v=DMARC1; p=reject; sp=quarantine; np=none": func(r *dmarc.Record) {
			r.SubdomainPolicy, r.NonExistentPolicy = dmarc.Quarantine, dmarc.None
		},
		"v=DMARC1; p=reject; adkim=s; aspf=s; psd=y; t=y": func(r *dmarc.Record) {
			r.DKIMAlignment, r.SPFAlignment, r.PSD, r.Testing = dmarc.Strict, dmarc.Strict, dmarc.PublicSuffix, true
		},
		"v=DMARC1; p=reject; pct=0; rf=afrf; ri=3600; x-y=z; zz=;;": func(*dmarc.Record) {},
		"v=DMARC1; p=reject; P=none":                                func(*dmarc.Record) {},
		"v=DMARC1; p=reject; adkim=x; t=1; psd=maybe": func(r *dmarc.Record) {
			r.Invalid = []string{"adkim", "t", "psd"}
		},
		"v=DMARC1; p=reject; aspf=s; aspf=r": func(r *dmarc.Record) { r.SPFAlignment, r.Invalid = dmarc.Relaxed, []string{"aspf"} },
		"v=DMARC1; p=reject; rua=mailto:a@example.com!10m , mailto:b@example.net,https://example.com/r": func(r *dmarc.Record) {
			r.AggregateURIs = []string{"mailto:a@example.com", "mailto:b@example.net", "https://example.com/r"}
		},
		"v=DMARC1; p=reject; rua=a@example.com,mailto:b@,mailto:c@example.com!x": func(r *dmarc.Record) { r.Invalid = []string{"rua"} },
		"v=DMARC1; p=reject; fo=1:d:s":                                           func(*dmarc.Record) {},
		"v=DMARC1; p=reject; fo=1:d:s; ruf=mailto:f@example.com": func(r *dmarc.Record) {
			r.FailureURIs, r.FailureOptions = []string{"mailto:f@example.com"}, []string{"1", "d", "s"}
		},
		"v=DMARC1; p=reject; fo=0:1; ruf=mailto:f@example.com": func(r *dmarc.Record) {
			r.FailureURIs, r.FailureOptions, r.Invalid = []string{"mailto:f@example.com"}, []string{"0"}, []string{"fo"}
		},

		// Section 4.10.1: without a usable policy, a report address decides.
		"v=DMARC1": func(r *dmarc.Record) { r.Policy = "" },
		"v=DMARC1; rua=mailto:a@example.com": func(r *dmarc.Record) {
			r.Policy, r.AggregateURIs = dmarc.None, []string{"mailto:a@example.com"}
		},
		"v=DMARC1; p=block": func(r *dmarc.Record) { r.Policy, r.Invalid = "", []string{"p"} },
		"v=DMARC1; p=none; p=reject; rua=mailto:a@example.com": func(r *dmarc.Record) {
			r.Policy, r.Invalid, r.AggregateURIs = dmarc.None, []string{"p"}, []string{"mailto:a@example.com"}
		},
		"v=DMARC1; p=reject; sp=block": func(r *dmarc.Record) { r.Policy, r.Invalid = "", []string{"sp"} },
		"v=DMARC1; p=reject; sp=reject; np=; rua=mailto:a@example.com": func(r *dmarc.Record) {
			r.Policy, r.Invalid, r.AggregateURIs = dmarc.None, []string{"np"}, []string{"mailto:a@example.com"}
		},
	} {
		expected := defaults(dmarc.Reject)
		expected.Text = text
		want(&expected)
		got, err := dmarc.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(expected, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
		if got.Applies() != (got.Policy != "") {
			t.Errorf("%s: applies %v", text, got.Applies())
		}
	}
}

func TestParseRefusesOtherTexts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "v", "v=DMARC1 p=none", "v=DMARC10; p=none", "v=dmarc1; p=none", "p=none; v=DMARC1", " v=DMARC1; p=none",
		"v=DMARC2; p=none", "v=spf1 -all", ";v=DMARC1", "vv=DMARC1; p=none",
	} {
		if _, err := dmarc.Parse(text); !errors.Is(err, dmarc.ErrNotDMARC) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestPolicyFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text                            string
		itself, subdomain, nonExistence dmarc.Policy
	}{
		{"v=DMARC1; p=reject", dmarc.Reject, dmarc.Reject, dmarc.Reject},
		{"v=DMARC1; p=reject; sp=none", dmarc.Reject, dmarc.None, dmarc.None},
		{"v=DMARC1; p=none; np=reject", dmarc.None, dmarc.None, dmarc.Reject},
		{"v=DMARC1; p=none; sp=quarantine; np=reject", dmarc.None, dmarc.Quarantine, dmarc.Reject},
	} {
		r, err := dmarc.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if r.PolicyFor(false, false) != c.itself || r.PolicyFor(true, true) != c.subdomain || r.PolicyFor(true, false) != c.nonExistence {
			t.Errorf("%s: %s, %s, %s", c.text, r.PolicyFor(false, false), r.PolicyFor(true, true), r.PolicyFor(true, false))
		}
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Example.COM": "example.com", "example.com.": "example.com", "bücher.example": "xn--bcher-kva.example",
		"BÜCHER.example": "xn--bcher-kva.example", "_spf.example.com": "_spf.example.com", "com": "com",
		"例え。example": "xn--r8jz45g.example",
		"":           "", ".": "", "a..b": "", "[192.0.2.1]": "", "-a.com": "", "a-.com": "", "a b.com": "", "a\x00.com": "", "a@b.com": "",
		"\xff.com": "", strings.Repeat("a", 64) + ".com": "", strings.Repeat("a.", 127) + "a.com": "", "exam\u212aple.com": "examkple.com",
	} {
		if got, ok := dmarc.Name(text); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
	}
}

// FuzzParse checks that every text is either refused or gives a record whose fields have
// only the values of the RFC, and that parsing depends on nothing but the text.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"v=DMARC1; p=none", "v=DMARC1; p=reject; sp=none; np=reject; adkim=s; aspf=r; psd=n; t=y; fo=1:d; rua=mailto:a@b.c!1k; ruf=mailto:a@b.c",
		"v=DMARC1;;;p==;p", "v\t=\tDMARC1\t;rua=,,!,mailto:@", "v=DMARC1; p=none; p=none",
	} {
		f.Add(seed)
	}
	policies := []dmarc.Policy{"", dmarc.None, dmarc.Quarantine, dmarc.Reject}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := dmarc.Parse(text)
		if err != nil {
			if !errors.Is(err, dmarc.ErrNotDMARC) || !cmp.Equal(r, dmarc.Record{}) {
				t.Fatalf("%v, %v", r, err)
			}
			return
		}
		for _, p := range []dmarc.Policy{r.Policy, r.SubdomainPolicy, r.NonExistentPolicy} {
			if !slices.Contains(policies, p) || r.Policy == "" && p != "" {
				t.Fatalf("policies %+v", r)
			}
		}
		modes := []dmarc.Mode{dmarc.Relaxed, dmarc.Strict}
		if !slices.Contains(modes, r.DKIMAlignment) || !slices.Contains(modes, r.SPFAlignment) ||
			!slices.Contains([]dmarc.PSD{dmarc.PublicSuffix, dmarc.Organization, dmarc.Undeclared}, r.PSD) {
			t.Fatalf("modes %+v", r)
		}
		if (len(r.FailureOptions) > 0) != (len(r.FailureURIs) > 0) {
			t.Fatalf("failure reports %+v", r)
		}
		for _, uri := range slices.Concat(r.AggregateURIs, r.FailureURIs) {
			if strings.ContainsAny(uri, "!, ;\r\n\x00") {
				t.Fatalf("URI %q", uri)
			}
		}
		// A tag after the others that is not known changes nothing.
		more, err := dmarc.Parse(text + ";pct=7")
		more.Text = text
		if err != nil || !cmp.Equal(r, more) {
			t.Fatalf("with an unknown tag: %v, %s", err, cmp.Diff(r, more))
		}
	})
}

func TestTags(t *testing.T) {
	t.Parallel()
	got, err := dmarc.Tags("v = DMARC1 ;p= none; x-own=a=b;rua=; P=reject; stray; p=reject;")
	want := []dmarc.Tag{{Name: "p", Value: "none"}, {Name: "x-own", Value: "a=b"}, {Name: "rua"}, {Name: "P", Value: "reject"}, {Name: "p", Value: "reject"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("Tags = %q, %v, want %q", got, err, want)
	}
	if _, err := dmarc.Tags("v=spf1; p=none"); !errors.Is(err, dmarc.ErrNotDMARC) {
		t.Errorf("Tags of an SPF record: error %v, want ErrNotDMARC", err)
	}
}
