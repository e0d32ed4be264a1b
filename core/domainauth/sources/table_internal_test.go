package sources

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestKnownSenders(t *testing.T) {
	t.Parallel()
	if n := len(known().senders); n < 60 {
		t.Errorf("the table has %d senders, at least 60 are promised", n)
	}
	var providers, domains []string
	for _, s := range known().senders {
		providers, domains = append(providers, s.provider), append(domains, s.domain)
		checkSender(t, s)
	}
	if !slices.IsSorted(providers) {
		t.Error("the senders are not sorted by machine name")
	}
	for what, values := range map[string][]string{"machine name": providers, "domain": domains} {
		slices.Sort(values)
		for i := range values[1:] {
			if values[i] == values[i+1] {
				t.Errorf("two senders have the %s %s", what, values[i])
			}
		}
	}
}

func checkSender(t *testing.T, s *sender) {
	t.Helper()
	if strings.Trim(s.provider, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		t.Errorf("%s: a machine name has lower case letters, digits and underscores", s.provider)
	}
	if base(s.domain) != s.domain {
		// Otherwise a sender that was not in the table had another key before.
		t.Errorf("%s: the domain %s is registered as %s", s.provider, s.domain, base(s.domain))
	}
	if s.name == "" || len(s.sources) == 0 {
		t.Errorf("%s has no name, or does not say where its facts are documented", s.provider)
	}
	for _, source := range s.sources {
		if u, err := url.Parse(source); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			t.Errorf("%s: %q is not an address of a page", s.provider, source)
		}
	}
	for _, values := range [][]string{s.dkim, s.spf, s.ptr, s.selector} {
		if !slices.IsSorted(values) {
			t.Errorf("%s: %v is not sorted", s.provider, values)
		}
	}
	for _, selector := range s.selector {
		if text := strings.TrimSuffix(selector, "*"); len(text) < 2 || normal(strings.TrimSuffix(text, "-")) != strings.TrimSuffix(text, "-") {
			t.Errorf("%s: %q is not a selector in lower case", s.provider, selector)
		}
	}
	for _, generic := range []string{"default", "dkim", "k1", "key1", "mail", "mx", "s1", "s2", "smtp"} {
		if slices.Contains(s.selector, generic) {
			t.Errorf("%s: other senders use the selector %s too", s.provider, generic)
		}
	}
}

// TestSendersFindThemselves checks that each fact of the table leads to its sender, also
// below the listed names and although names of other senders contain it.
func TestSendersFindThemselves(t *testing.T) {
	t.Parallel()
	for _, s := range known().senders {
		for _, name := range append(s.dkim, s.domain) {
			if got := known().ofDomain("x." + name); got.sender != s {
				t.Errorf("the signing domain x.%s is %q, not %s", name, got.domain, s.provider)
			}
		}
		for _, name := range append(s.spf, s.domain) {
			if got := known().ofRecord("a." + name); got.sender != s {
				t.Errorf("the record a.%s is of %q, not of %s", name, got.domain, s.provider)
			}
		}
		for _, name := range append(s.ptr, s.domain) {
			if got := above(known().reverse, "mx1."+name); got != s {
				t.Errorf("the host mx1.%s is not of %s", name, s.provider)
			}
		}
		for _, selector := range s.selector {
			if got := known().ofSelector(strings.Replace(selector, "*", "0423", 1)); got != s {
				t.Errorf("the selector %s is not of %s", selector, s.provider)
			}
		}
		for _, number := range s.asn {
			if known().systems[number] != s {
				t.Errorf("AS%d is not of %s", number, s.provider)
			}
		}
	}
}

func TestReadTableRefuses(t *testing.T) {
	t.Parallel()
	const valid = "# https://example.com\na a.example service A\n\tdkim d.example\n"
	if _, err := readTable(valid); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a value above the first sender":  "\tdkim a.example\n",
		"an entry without a name":         "a a.example service\n",
		"a kind that does not exist":      "a a.example club A\n",
		"a way that does not exist":       valid + "\tmx a.example\n",
		"a number with letters":           valid + "\tasn x\n",
		"a name in upper case":            valid + "\tptr A.example\n",
		"a name with an empty label":      valid + "\tptr a..example\n",
		"a signing domain of two senders": valid + "\nb b.example service B\n\tdkim d.example\n",
		"a domain of two senders":         valid + "\nb a.example service B\n",
		"a domain of another sender":      valid + "\nb b.example service B\n\tspf a.example\n",
		"a selector of two senders":       valid + "\tselector x1\n\nb b.example service B\n\tselector x1\n",
		"a system of two senders":         valid + "\tasn 1\n\nb b.example service B\n\tasn 1\n",
	} {
		if _, err := readTable(text); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
