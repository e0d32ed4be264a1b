package extract_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core/inboxes/extract"
	"golang.org/x/tools/txtar"
)

// FuzzExtract checks any strings: the bounds of the result, and that codes are in the mail and
// links are web addresses.
func FuzzExtract(f *testing.F) {
	for _, m := range mails(f) {
		f.Add(m.Subject, m.Text, m.HTML)
	}
	f.Fuzz(func(t *testing.T, subject, text, html string) {
		checkResult(t, extract.Extract(extract.Message{Subject: subject, Text: text, HTML: html}))
	})
}

// mails returns the mails in testdata.
func mails(t testing.TB) []extract.Message {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all []extract.Message
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files := map[string]string{}
		archive := txtar.Parse(data)
		for _, f := range archive.Files {
			files[f.Name] = string(f.Data)
		}
		for _, f := range archive.Files {
			if name, ok := strings.CutSuffix(f.Name, ".want"); ok {
				all = append(all, message(files, name))
			}
		}
	}
	return all
}

func checkResult(t *testing.T, e extract.Extracted) {
	t.Helper()
	if len(e.Codes) > 20 || len(e.Links) > 20 {
		t.Errorf("%d codes, %d links", len(e.Codes), len(e.Links))
	}
	seen := map[string]bool{}
	for _, c := range e.Codes {
		if n := len(c.Value); n < 4 || n > 24 || seen[c.Value] || c.Label == "" {
			t.Errorf("code %+v", c)
		}
		seen[c.Value] = true
		for _, r := range c.Value {
			if r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
				t.Errorf("code %q", c.Value)
			}
		}
	}
	for _, l := range e.Links {
		u, err := url.Parse(l.URL)
		if err != nil || u.Host == "" || len(l.URL) > 2048 || seen[l.URL] || !utf8.ValidString(l.URL+l.Text) || len(l.Text) > 200 || strings.Contains(l.Text, "\n") {
			t.Errorf("link %+v, %v", l, err)
			continue
		}
		seen[l.URL] = true
		if s := strings.ToLower(u.Scheme); s != "http" && s != "https" {
			t.Errorf("link with the scheme %s", s)
		}
	}
}

// TestHostileText checks that long repetitions take at most a second.
//
//nolint:paralleltest // it measures time
func TestHostileText(t *testing.T) {
	for _, unit := range []string{
		"code ", "code 123456 ", "123456\n", "code\n123456\n", "1 ", "1-", "A1-", "http://a ", "http://a/1)))))) ", "https://", "://", "验证码", "123456验证码",
		"is ", "code is ", "kod123 ", "(", "\u200b", "order 123456 code ", "é", "code:", "http://a/verify?a=b ", strings.Repeat("9", 1999) + "\n",
	} {
		text := strings.Repeat(unit, 400_000/len(unit))
		start := time.Now()
		checkResult(t, extract.Extract(extract.Message{Subject: text, Text: text}))
		checkResult(t, extract.Extract(extract.Message{HTML: text}))
		checkResult(t, extract.Extract(extract.Message{HTML: strings.Repeat("<a href=http://a>"+unit, 400_000/(len(unit)+17)) + "code 12345"}))
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("%.20q took %s", unit, took)
		}
	}
}

// TestManyLinks checks that links of a known kind are kept in a mail with many links.
func TestManyLinks(t *testing.T) {
	t.Parallel()
	html := ""
	for i := range 60 {
		html += `<a href="https://example.com/article/` + strings.Repeat("x", i+1) + `">Read</a>`
	}
	html += `<a href="https://example.com/u">Unsubscribe</a>`
	e := extract.Extract(extract.Message{HTML: html})
	if n := len(e.Links); n != 20 || e.Links[n-1].Kind != extract.Unsubscribe {
		t.Errorf("%d links, the last is %+v", n, e.Links[n-1])
	}
}

// BenchmarkExtract reads every mail in testdata once.
func BenchmarkExtract(b *testing.B) {
	all := mails(b)
	b.ReportAllocs()
	for b.Loop() {
		for _, m := range all {
			extract.Extract(m)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(all)), "ns/mail")
}
