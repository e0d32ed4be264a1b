package dmarc_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
	"pgregory.net/rapid"
)

// records is a Resolver with the policy records of domains. It notes the queries.
type records struct {
	texts   map[string][]string
	missing []string
	broken  []string
	asked   []string
}

var errBroken = errors.New("SERVFAIL")

func (r *records) TXT(_ context.Context, name string) ([]string, error) {
	r.asked = append(r.asked, name)
	if slices.Contains(r.broken, name) {
		return nil, errBroken
	}
	domain, ok := strings.CutPrefix(name, "_dmarc.")
	if !ok {
		return nil, errors.New("no name of a policy record")
	}
	return r.texts[domain], nil
}

func (r *records) Exists(_ context.Context, name string) (bool, error) {
	r.asked = append(r.asked, name)
	if slices.Contains(r.broken, name) {
		return false, errBroken
	}
	return !slices.Contains(r.missing, name), nil
}

// publish returns records at the domains, as "domain tags".
func publish(lines ...string) *records {
	r := &records{texts: map[string][]string{}}
	for _, line := range lines {
		domain, tags, _ := strings.Cut(line, " ")
		r.texts[domain] = append(r.texts[domain], "v=DMARC1; "+tags)
	}
	return r
}

// TestWalkQueries has the examples of sections 4.10 and 5.1.8.
func TestWalkQueries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		domain  string
		records *records
		queries string
	}{
		{"a.b.c.d.e.f.g.h.i.j.mail.example.com", publish(), "a.b.c.d.e.f.g.h.i.j.mail.example.com g.h.i.j.mail.example.com " +
			"h.i.j.mail.example.com i.j.mail.example.com j.mail.example.com mail.example.com example.com com"},
		{"mail.a.b.c.d.e.f.g.example.com", publish(), "mail.a.b.c.d.e.f.g.example.com c.d.e.f.g.example.com d.e.f.g.example.com " +
			"e.f.g.example.com f.g.example.com g.example.com example.com com"},
		{"1.2.3.4.5.6.7.8", publish(), "1.2.3.4.5.6.7.8 2.3.4.5.6.7.8 3.4.5.6.7.8 4.5.6.7.8 5.6.7.8 6.7.8 7.8 8"},
		{"Mail.Example.com.", publish("example.com p=none; psd=n"), "mail.example.com example.com"},
		{"example.com", publish("example.com p=none; psd=y"), "example.com"},
		{"example.com", publish("example.com p=none; psd=n", "example.com p=none; psd=n"), "example.com com"},
		{"com", publish(), "com"},
	} {
		if _, err := dmarc.Walk(t.Context(), c.records, c.domain); err != nil {
			t.Errorf("%s: %v", c.domain, err)
		}
		var want []string
		for _, name := range strings.Fields(c.queries) {
			want = append(want, "_dmarc."+name)
		}
		if !slices.Equal(c.records.asked, want) {
			t.Errorf("%s: asked %v", c.domain, c.records.asked)
		}
	}
}

// TestLongName checks that no name is asked for that is too long for DNS.
func TestLongName(t *testing.T) {
	t.Parallel()
	domain := strings.Repeat("a.", 124) + "com"
	r := publish()
	if _, err := dmarc.Walk(t.Context(), r, domain); err != nil || len(domain) != 251 {
		t.Errorf("%d octets: %v", len(domain), err)
	}
	if len(r.asked) != 7 || r.asked[0] != "_dmarc.a.a.a.a.a.a.com" {
		t.Errorf("asked %v", r.asked)
	}
}

// TestDiscover has the examples of section 4.10 and of appendix B, and each preference of
// section 4.10.1.
func TestDiscover(t *testing.T) {
	t.Parallel()
	bank := []string{"bank.example p=reject; psd=y; np=quarantine", "giant.bank.example p=none"}
	for _, c := range []struct {
		author                string
		records               *records
		organization, domain  string
		published, handled    dmarc.Policy
		existenceIsAskedTimes int
	}{
		{"example.com", publish("example.com p=reject"), "example.com", "example.com", dmarc.Reject, dmarc.Reject, 0},
		{"example.com", publish("example.com p=reject; sp=none; np=none; t=y"), "example.com", "example.com", dmarc.Reject, dmarc.Quarantine, 0},
		{"example.com", publish("example.com p=quarantine; t=y"), "example.com", "example.com", dmarc.Quarantine, dmarc.None, 0},
		{"example.com", publish(), "example.com", "", "", "", 0},
		{"example.com", publish("other.com p=reject", "www.example.com p=reject"), "example.com", "", "", "", 0},
		{
			"a.mail.example.com", publish("mail.example.com p=none", "example.com p=reject; sp=quarantine"),
			"example.com", "example.com", dmarc.Quarantine, dmarc.Quarantine, 0,
		},
		{
			"a.mail.example.com", publish("a.mail.example.com p=none", "example.com p=reject"),
			"example.com", "a.mail.example.com", dmarc.None, dmarc.None, 0,
		},
		{
			"a.mail.example.com", publish("mail.example.com p=quarantine; psd=n", "example.com p=reject"),
			"mail.example.com", "mail.example.com", dmarc.Quarantine, dmarc.Quarantine, 0,
		},
		{"a.mail.example.com", publish("com p=reject; psd=y"), "example.com", "com", dmarc.Reject, dmarc.Reject, 0},
		{"a.mail.example.com", publish("com p=reject"), "com", "com", dmarc.Reject, dmarc.Reject, 0},
		{"giant.bank.example", publish(bank...), "giant.bank.example", "giant.bank.example", dmarc.None, dmarc.None, 0},
		{"mail.giant.bank.example", publish(bank...), "giant.bank.example", "giant.bank.example", dmarc.None, dmarc.None, 0},
		{"mail.mega.bank.example", publish(bank...), "mega.bank.example", "bank.example", dmarc.Reject, dmarc.Reject, 1},
		{"bank.example", publish(bank...), "bank.example", "bank.example", dmarc.Reject, dmarc.Reject, 0},
		{
			"a.b.c.d.e.f.g.h.i.j.k.example.com", publish("example.com p=none", "signing.example.com p=none"),
			"example.com", "example.com", dmarc.None, dmarc.None, 0,
		},
		{"bücher.example", publish("xn--bcher-kva.example p=reject"), "xn--bcher-kva.example", "xn--bcher-kva.example", dmarc.Reject, dmarc.Reject, 0},
		{"example.com", publish("example.com sp=none"), "example.com", "example.com", "", "", 0},
	} {
		d, err := dmarc.Discover(t.Context(), c.records, c.author)
		if err != nil {
			t.Errorf("%s: %v", c.author, err)
			continue
		}
		if d.Organization != c.organization || d.Domain != c.domain || d.Policy != c.published || d.Handling() != c.handled || d.Applies() != (c.published != "") {
			t.Errorf("%s: %+v, %s", c.author, d, d.Handling())
		}
		var existence int
		for _, name := range c.records.asked {
			if !strings.HasPrefix(name, "_dmarc.") {
				existence++
			}
		}
		if existence != c.existenceIsAskedTimes {
			t.Errorf("%s: asked %d times whether it exists", c.author, existence)
		}
	}
}

func TestNonExistentSubdomain(t *testing.T) {
	t.Parallel()
	r := publish("example.com p=none; sp=quarantine; np=reject")
	r.missing = []string{"ghost.example.com"}
	r.broken = []string{"unknown.example.com"}
	for author, want := range map[string]dmarc.Policy{"ghost.example.com": dmarc.Reject, "real.example.com": dmarc.Quarantine, "example.com": dmarc.None} {
		if d, err := dmarc.Discover(t.Context(), r, author); err != nil || d.Policy != want {
			t.Errorf("%s: %s, %v", author, d.Policy, err)
		}
	}
	if _, err := dmarc.Discover(t.Context(), r, "unknown.example.com"); !errors.Is(err, errBroken) {
		t.Errorf("existence not known: %v", err)
	}
}

func TestDiscoverFails(t *testing.T) {
	t.Parallel()
	r := publish("mail.example.com p=reject")
	r.broken = []string{"_dmarc.example.com"}
	if _, err := dmarc.Discover(t.Context(), r, "mail.example.com"); !errors.Is(err, errBroken) {
		t.Errorf("a failed query: %v", err)
	}
	for _, domain := range []string{"", "[192.0.2.1]", "a..b"} {
		if _, err := dmarc.Discover(t.Context(), r, domain); err == nil {
			t.Errorf("%q is no name", domain)
		}
	}
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	const author = "news.example.com"
	relaxed := []string{"example.com p=reject"}
	strict := []string{"example.com p=reject; adkim=s; aspf=s"}
	inner := []string{"example.com p=reject", "lab.example.com p=none; psd=n"}
	for _, c := range []struct {
		name      string
		records   []string
		ids       dmarc.Identifiers
		spf, dkim bool
	}{
		{"nothing", relaxed, dmarc.Identifiers{}, false, false},
		{"the same domain", strict, dmarc.Identifiers{SPF: author, DKIM: []string{"NEWS.example.com."}}, true, true},
		{"relaxed", relaxed, dmarc.Identifiers{SPF: "bounce.example.com", DKIM: []string{"esp.net", "example.com"}}, true, true},
		{"strict", strict, dmarc.Identifiers{SPF: "bounce.example.com", DKIM: []string{"example.com"}}, false, false},
		{"another domain", relaxed, dmarc.Identifiers{SPF: "example.net", DKIM: []string{"badexample.com", "com", "xample.com"}}, false, false},
		{"another organization below", inner, dmarc.Identifiers{SPF: "lab.example.com", DKIM: []string{"x.lab.example.com"}}, false, false},
		{"no name", relaxed, dmarc.Identifiers{SPF: "[192.0.2.1]", DKIM: []string{"", "a..b"}}, false, false},
		{"no record", nil, dmarc.Identifiers{SPF: author, DKIM: []string{author}}, false, false},
		{"no usable record", []string{"example.com t=y"}, dmarc.Identifiers{SPF: author}, false, false},
	} {
		e, err := dmarc.Evaluate(t.Context(), publish(c.records...), author, c.ids)
		if err != nil || e.SPFAligned != c.spf || e.DKIMAligned != c.dkim || e.Pass() != (c.spf || c.dkim) {
			t.Errorf("%s: %+v, %v", c.name, e, err)
		}
	}
}

func TestEvaluateWithFailedQueries(t *testing.T) {
	t.Parallel()
	r := publish("example.com p=reject")
	r.broken = []string{"_dmarc.slow.example.com"}
	slow := dmarc.Identifiers{SPF: "slow.example.com"}
	if e, err := dmarc.Evaluate(t.Context(), r, "example.com", slow); !errors.Is(err, errBroken) || e.Pass() {
		t.Errorf("the only identifier: %+v, %v", e, err)
	}
	slow.DKIM = []string{"example.com"}
	if e, err := dmarc.Evaluate(t.Context(), r, "example.com", slow); err != nil || !e.Pass() {
		t.Errorf("another identifier is aligned: %+v, %v", e, err)
	}
	r.broken = append(r.broken, "_dmarc.evil.net")
	if e, err := dmarc.Evaluate(t.Context(), r, "example.com", dmarc.Identifiers{SPF: "evil.net"}); err != nil || e.Pass() {
		t.Errorf("a domain that cannot be aligned: %+v, %v", e, err)
	}
}

// drawDomain draws a domain of up to twelve labels from few names, so that domains are often
// related.
func drawDomain(t *rapid.T, label string) string {
	labels := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b"}), 0, 10).Draw(t, label)
	return strings.Join(append(labels, rapid.SampledFrom([]string{"example.com", "org.example", "com"}).Draw(t, label+" top")), ".")
}

// drawRecords draws records at some of the names at or above the domains.
func drawRecords(t *rapid.T, domains ...string) *records {
	r := &records{texts: map[string][]string{}}
	for _, domain := range domains {
		for name := domain; name != ""; _, name, _ = strings.Cut(name, ".") {
			if r.texts[name] == nil && rapid.Bool().Draw(t, "record at "+name) {
				r.texts[name] = rapid.SliceOfN(rapid.SampledFrom([]string{
					"v=DMARC1; p=reject", "v=DMARC1; p=none; psd=u", "v=DMARC1; p=none; psd=n", "v=DMARC1; p=none; psd=y", "v=DMARC1", "v=spf1 -all",
				}), 1, 2).Draw(t, "records of "+name)
			}
		}
	}
	return r
}

// organization computes the organizational domain in the words of section 4.10.2, from all
// records at once instead of by a walk.
func organization(r *records, domain string) string {
	labels := strings.Split(domain, ".")
	targets := []string{domain}
	start := 1
	if len(labels) > 8 {
		start = len(labels) - 7
	}
	for i := start; i < len(labels); i++ {
		targets = append(targets, strings.Join(labels[i:], "."))
	}
	last := domain
	for i, target := range targets {
		var valid []string
		for _, text := range r.texts[target] {
			if strings.HasPrefix(text, "v=DMARC1") {
				valid = append(valid, text)
			}
		}
		if len(valid) != 1 {
			continue
		}
		switch {
		case strings.Contains(valid[0], "psd=n"):
			return target
		case strings.Contains(valid[0], "psd=y") && i == 0:
			return target // the walk stops at its start
		case strings.Contains(valid[0], "psd=y"):
			return strings.Join(labels[len(labels)-len(strings.Split(target, "."))-1:], ".")
		}
		last = target
	}
	return last
}

func TestWalkProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		domain := drawDomain(t, "domain")
		r := drawRecords(t, domain)
		tree, err := dmarc.Walk(context.Background(), r, domain)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.asked) > 8 || r.asked[0] != "_dmarc."+domain {
			t.Fatalf("queries %v", r.asked)
		}
		for i, name := range r.asked {
			name = strings.TrimPrefix(name, "_dmarc.")
			if i > 0 && !strings.HasSuffix(r.asked[i-1], "."+name) || strings.Count(name, ".") > 6 && i > 0 {
				t.Fatalf("query %d of %v", i, r.asked)
			}
		}
		if got, want := tree.OrganizationalDomain(), organization(r, domain); got != want {
			t.Fatalf("organization of %s with %v: %s instead of %s", domain, r.texts, got, want)
		}
	})
}

// TestAlignedProperties compares Aligned, which skips walks that cannot matter, with the two
// organizational domains.
func TestAlignedProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		author, id := drawDomain(t, "author"), drawDomain(t, "identifier")
		r := drawRecords(t, author, id)
		mode := rapid.SampledFrom([]dmarc.Mode{dmarc.Relaxed, dmarc.Strict}).Draw(t, "mode")
		d, err := dmarc.Discover(context.Background(), r, author)
		if err != nil {
			t.Fatal(err)
		}
		want := author == id || mode == dmarc.Relaxed && organization(r, author) == organization(r, id)
		got, err := dmarc.Aligned(context.Background(), r, d, strings.ToUpper(id), mode)
		if err != nil || got != want {
			t.Fatalf("%s and %s with %v: %v instead of %v, %v", author, id, r.texts, got, want, err)
		}
	})
}
