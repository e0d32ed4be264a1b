package domainauth

import (
	"bytes"
	"flag"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/domainauth/report/reporttest"
	"github.com/mailhelm/mailhelm/core/goldentest"
)

var update = flag.Bool("update", false, "write the golden files again")

// folder has a file NAME.xml for each shape, and NAME.json with what is read of it.
const folder = "testdata/shapes"

// shape is a report as a receiver or a program writes it.
type shape struct {
	// name is that of the files in the folder.
	name string
	// packing is how the report is sent, a key of packings.
	packing string
	// reporter is the receiver or program that writes such reports.
	reporter string
	// particular says what other reports do not have.
	particular string
	// fragment is the particular part of the document. It is "" if the packing is particular.
	fragment string
	// source describes such reports: an URL.
	source string
}

// minShapes is the number of shapes that are promised.
const minShapes = 60

// TestGoldenShapes reads each shape as it is sent, and compares all that is read: the fields of the
// report, its records and its warnings.
func TestGoldenShapes(t *testing.T) {
	t.Parallel()
	for _, s := range shapes {
		got := read(t, s).text()
		path := filepath.Join(folder, s.name+".json")
		if *update {
			if err := goldentest.Write(path, got, 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: read\n%s\nwant\n%s", s.name, got, want)
		}
	}
}

// read reads a shape, which has one document.
func read(t *testing.T, s shape) reading {
	t.Helper()
	pack, ok := packings[s.packing]
	if !ok {
		t.Fatalf("%s: packing %q", s.name, s.packing)
	}
	var all []reading
	err := report.Unpack(bytes.NewReader(pack(s.document(t))), report.DefaultLimits, func(document io.Reader) error {
		all = append(all, parse(document))
		return nil
	})
	if err != nil || len(all) != 1 {
		t.Fatalf("%s: %d documents, %v", s.name, len(all), err)
	}
	return all[0]
}

func (s shape) document(t *testing.T) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, s.name+".xml"))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func parse(document io.Reader) reading {
	var got reading
	r, err := report.Parse(document, func(r *report.Record) error {
		got.records = append(got.records, reporttest.Clone(r))
		return nil
	})
	if err != nil {
		return reading{refusal: refusal(err)}
	}
	got.report = *r
	return got
}

// TestShapes checks the table: each shape has a source, its document has what is particular about
// it, and no two are particular by the same.
func TestShapes(t *testing.T) {
	t.Parallel()
	if len(shapes) < minShapes {
		t.Errorf("%d shapes, want at least %d", len(shapes), minShapes)
	}
	seen := map[string]string{}
	for _, s := range shapes {
		if !strings.HasPrefix(s.source, "https://") || s.reporter == "" || s.particular == "" {
			t.Errorf("%s: from %q, particular %q, source %q", s.name, s.reporter, s.particular, s.source)
		}
		if !bytes.Contains(s.document(t), []byte(s.fragment)) {
			t.Errorf("%s: the document does not have %q", s.name, s.fragment)
		}
		particular := s.packing + " " + s.fragment
		for _, key := range []string{s.name, s.particular, particular} {
			if other, ok := seen[key]; ok {
				t.Errorf("%s and %s have both %q", s.name, other, key)
			}
			seen[key] = s.name
		}
		if s.fragment == "" && s.packing == "plain" {
			t.Errorf("%s: nothing is particular", s.name)
		}
	}
	checkFiles(t)
}

// checkFiles checks that the folder has only the files of the shapes.
func checkFiles(t *testing.T) {
	t.Helper()
	var want []string
	for _, s := range shapes {
		want = append(want, s.name+".json", s.name+".xml")
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the folder has\n%q, the table has\n%q", got, want)
	}
}

// TestShapesNameNoOne checks that the shapes have only domains and addresses that are reserved for
// examples (RFC 2606, RFC 5737, RFC 3849).
func TestShapesNameNoOne(t *testing.T) {
	t.Parallel()
	networks := []netip.Prefix{
		netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"),
		netip.MustParsePrefix("2001:db8::/32"),
	}
	for _, s := range shapes {
		got := read(t, s)
		domains := []string{got.report.Policy.Domain, got.report.Email}
		for _, r := range got.records {
			domains = append(domains, r.HeaderFrom, r.EnvelopeFrom)
			for _, signature := range r.Signatures {
				domains = append(domains, signature.Domain)
			}
			for _, sender := range r.SPFResults {
				domains = append(domains, sender.Domain)
			}
			if !slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(r.SourceIP) }) {
				t.Errorf("%s: source %s", s.name, r.SourceIP)
			}
		}
		for _, domain := range domains {
			if !isReserved(domain) {
				t.Errorf("%s: domain %q", s.name, domain)
			}
		}
	}
}

// isReserved reports whether a domain or an email address is reserved. AOL wrote NULL for none.
func isReserved(name string) bool {
	name = strings.ToLower(strings.Trim(name, "<>"))
	return name == "" || name == "null" || strings.HasSuffix(name, ".example") || slices.ContainsFunc([]string{"example.com", "example.net", "example.org"}, func(domain string) bool {
		return name == domain || strings.HasSuffix(name, "."+domain)
	})
}
