package main

import (
	"slices"
	"strings"
	"testing"
)

// Streams of events in the format of go test -json, with only the members that tally reads.
const (
	passing = `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}
`
	skipping = `{"Action":"output","Package":"p","Test":"TestB","Output":"=== RUN   TestB\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:7: no PostgreSQL here\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
`
	failing = `{"Action":"output","Package":"p","Test":"TestC","Output":"    c_test.go:9: got 1, want 2\n"}
{"Action":"fail","Package":"p","Test":"TestC"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
`
	dying = `{"Action":"output","Package":"p","Test":"TestD","Output":"panic: boom\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
`
	broken = `{"Action":"build-output","ImportPath":"p","Output":"p.go:3:1: syntax error\n"}
{"Action":"build-fail","ImportPath":"p"}
{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}
{"Action":"fail","Package":"p","FailedBuild":"p"}
`
)

func TestVerdict(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		stream  string
		strict  bool
		want    string // part of the expected error; "" means no error
		shows   []string
		conceal string
	}{
		{name: "pass", stream: passing, strict: true, shows: []string{"ok  \tp\t0.1s\n", "1 passed, 0 failed, 0 skipped"}, conceal: "=== RUN"},
		{name: "skip", stream: passing + skipping, shows: []string{"1 TESTS DID NOT RUN", "skipped: p TestB: b_test.go:7: no PostgreSQL here"}},
		{name: "skip with CI=true", stream: passing + skipping, strict: true, want: "1 tests were skipped"},
		{name: "failure", stream: passing + failing, want: "1 tests failed", shows: []string{"got 1, want 2", "failed: p TestC", "FAIL\tp\t0.1s\n"}},
		{name: "process dies", stream: dying, want: "no test passed", shows: []string{"panic: boom"}},
		{name: "nothing ran", stream: "", want: "no test passed"},
		{name: "build failure", stream: broken, want: "no test passed", shows: []string{"p.go:3:1: syntax error", "[build failed]"}},
		{name: "words of the go command", stream: "go: cannot find main module\n", want: "no test passed", shows: []string{"cannot find main module"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			tally := newTally(&out)
			if err := tally.read(strings.NewReader(tc.stream)); err != nil {
				t.Fatal(err)
			}
			err := tally.verdict(tc.strict)
			if got := errText(err); tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("verdict %q, want %q", got, tc.want)
			}
			for _, text := range tc.shows {
				if !strings.Contains(out.String(), text) {
					t.Errorf("output lacks %q:\n%s", text, out.String())
				}
			}
			if tc.conceal != "" && strings.Contains(out.String(), tc.conceal) {
				t.Errorf("output of a test that passed is shown:\n%s", out.String())
			}
		})
	}
}

// TestRunFailsWithGoTest checks that run fails if go test exits with an error, even if no
// event shows a failure.
func TestRunFailsWithGoTest(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := run(t.Context(), []string{"./does-not-exist"}, false, &out); err == nil {
		t.Errorf("a run of a package that is not there passed:\n%s", out.String())
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ given, want []string }{
		{[]string{"HOME=/"}, []string{"HOME=/", "GOGC=400"}},
		{[]string{"GOGC=50", "HOME=/"}, []string{"GOGC=50", "HOME=/"}},
	} {
		if got := environment(tc.given); !slices.Equal(got, tc.want) {
			t.Errorf("%v: %v, want %v", tc.given, got, tc.want)
		}
	}
}
