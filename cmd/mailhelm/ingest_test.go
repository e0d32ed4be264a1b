package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
)

const eventLine = `{"eventType":"Open","mail":{"timestamp":"2026-03-02T11:00:00Z","messageId":"m-1","source":"a@b.example","destination":["c@d.example"]},"open":{"timestamp":"2026-03-02T11:05:00Z"}}`

// TestIngest checks that `mailhelm ingest` can import a file twice. The summary must count
// the events and duplicates, and list the lines without an event.
func TestIngest(t *testing.T) {
	t.Parallel()
	s := migrated(t)
	s.mustRun("org", "create", "acme")
	file := filepath.Join(t.TempDir(), "events.jsonl")
	if err := os.WriteFile(file, []byte(eventLine+"\nno event\n"+eventLine+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	first := runWith(t, nil, append([]string{"ingest", file}, s.where...)...)
	if first.status != cli.ExitOK || first.stderr != "" {
		t.Fatalf("status %d, %s", first.status, first.stderr)
	}
	const table = "organization  acme\nlines         3\nevents        2\nnew           1\nduplicates    1\nmalformed     1 (line 2)\nfailed        0\n"
	if diff := cmp.Diff(table, first.stdout); diff != "" {
		t.Error(diff)
	}

	again := runWith(t, nil, append([]string{"ingest", file, "--org", "acme", "--json"}, s.where...)...)
	var got any
	if err := json.Unmarshal([]byte(again.stdout), &got); err != nil || again.status != cli.ExitOK {
		t.Fatal(err, again.stderr)
	}
	want := map[string]any{
		"organization": "acme", "lines": 3.0, "events": 2.0, "new": 0.0, "duplicates": 2.0,
		"malformed": 1.0, "malformed_lines": []any{2.0}, "failed": 0.0, "failed_lines": []any{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	s.mustRun("org", "create", "other")
	for text, args := range map[string][]string{
		"choose one with --org":       {"ingest", file},
		"no organization":             {"ingest", file, "--org", "nobody"},
		"no such file":                {"ingest", file + "x", "--org", "acme"},
		"is a folder":                 {"ingest", filepath.Dir(file), "--org", "acme"},
		"gzip but cannot be unpacked": {"ingest", gzipOnly(t), "--org", "acme"},
		"expected \"<file>\"":         {"ingest"},
	} {
		if r := runWith(t, nil, append(args, s.where...)...); r.status == cli.ExitOK || !strings.Contains(r.stderr, text) || r.stdout != "" {
			t.Errorf("%v: status %d, %q %s", args, r.status, r.stderr, r.stdout)
		}
	}
}

// TestIngestOfAnotherFile checks that `mailhelm ingest` fails for a file whose lines have
// no event, because it is probably the wrong file. It must accept an empty file and one
// with only the message by which Amazon SES tests a topic.
func TestIngestOfAnotherFile(t *testing.T) {
	t.Parallel()
	s := migrated(t)
	s.mustRun("org", "create", "acme")
	const notice = "Successfully validated SNS topic for Amazon SES event publishing.\n"
	for content, want := range map[string]int{
		"":                                  cli.ExitOK,
		notice:                              cli.ExitOK,
		"{\n  \"eventType\": \"Open\"\n}\n": cli.ExitFailure,
		notice + "no event\n":               cli.ExitFailure,
		"no event\n" + eventLine:            cli.ExitOK,
	} {
		file := filepath.Join(t.TempDir(), "events.jsonl")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		r := runWith(t, nil, append([]string{"ingest", file, "--json"}, s.where...)...)
		hasWarning := strings.Contains(r.stderr, "no line of "+file+" has an event")
		if r.status != want || hasWarning != (want != cli.ExitOK) || !strings.Contains(r.stdout, `"malformed_lines"`) {
			t.Errorf("%q: status %d, want %d\n%s%s", content, r.status, want, r.stdout, r.stderr)
		}
	}
}

// gzipOnly returns the path of a file that begins like gzip but is not valid gzip.
func gzipOnly(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "events.gz")
	if err := os.WriteFile(file, []byte("\x1f\x8bno"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
