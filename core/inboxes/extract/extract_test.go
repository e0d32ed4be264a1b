package extract_test

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/goldentest"
	"github.com/mailhelm/mailhelm/core/inboxes/extract"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write the results into testdata")

// TestGolden reads the mails in testdata. An archive has a language; a mail has a file
// "name.txt", which begins with the subject, or "name.html", or both, and the codes and links
// in "name.want".
func TestGolden(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	mails := 0
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files := map[string]string{}
		for _, f := range archive.Files {
			files[f.Name] = string(f.Data)
		}
		for i := range archive.Files {
			name, ok := strings.CutSuffix(archive.Files[i].Name, ".want")
			if !ok {
				continue
			}
			mails++
			got := describe(extract.Extract(message(files, name)))
			if want := files[name+".want"]; got != want && !*update {
				t.Errorf("%s, %s:\n%swant:\n%s", path, name, got, want)
			}
			archive.Files[i].Data = []byte(got)
		}
		if *update {
			if err := goldentest.Write(path, txtar.Format(archive), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(archives) < 8 || mails < 60 {
		t.Errorf("%d mails in %d archives", mails, len(archives))
	}
}

// message returns a mail of an archive.
func message(files map[string]string, name string) extract.Message {
	subject, text, _ := strings.Cut(files[name+".txt"], "\n")
	return extract.Message{Subject: strings.TrimPrefix(subject, "Subject: "), Text: text, HTML: files[name+".html"]}
}

// describe writes a result, one line for each code and link.
func describe(e extract.Extracted) string {
	var b strings.Builder
	for _, c := range e.Codes {
		fmt.Fprintf(&b, "code %s", c.Value)
		if c.Raw != c.Value {
			fmt.Fprintf(&b, " (written %s)", c.Raw)
		}
		fmt.Fprintf(&b, " by %q\n", c.Label)
	}
	for _, l := range e.Links {
		fmt.Fprintf(&b, "%s %s", l.Kind, l.URL)
		if l.Text != "" {
			fmt.Fprintf(&b, " %q", l.Text)
		}
		b.WriteString("\n")
	}
	return b.String()
}
