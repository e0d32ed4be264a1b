package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// event is one line of "go test -json"; see "go doc test2json".
type event struct {
	// Action is the kind of the event, such as run, output, pass, fail or skip.
	Action string
	// Package is the import path of the package; "" for output of a build.
	Package string
	// Test is the name of the test. The name of a subtest begins with the names of its
	// parents, separated by slashes. Test is "" for an event of the whole package.
	Test string
	// Output is a part of the output, usually one line.
	Output string
}

// tally counts the results of tests. A subtest counts as a test.
type tally struct {
	out     io.Writer
	pending map[string]*strings.Builder // output of running tests, by package and test
	passed  int
	// failed and skipped have the package and the name of each test, in the order in which
	// the tests ended.
	failed  []string
	skipped []skip
}

// skip is a skipped test, with the line of output that has the reason.
type skip struct{ name, reason string }

// newTally returns an empty tally that prints to out.
func newTally(out io.Writer) *tally {
	return &tally{out: out, pending: map[string]*strings.Builder{}}
}

// read counts the events of go test until the stream ends. Lines that are not events come
// from the go command itself; read prints them.
func (t *tally) read(events io.Reader) error {
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			t.take(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// take counts the test event in one line of the JSON output of go test. It prints the
// output of a failed test and discards the output of a passed one. A line that is no JSON
// is printed unchanged.
func (t *tally) take(line string) {
	var e event
	if json.Unmarshal([]byte(line), &e) != nil {
		fmt.Fprint(t.out, line)
		return
	}
	name := e.Package + " " + e.Test
	switch {
	case e.Action == "output" || e.Action == "build-output":
		t.output(name, e)
	case e.Test == "":
		// The package itself has ended. Its result is in the exit code of go test, so it is
		// not counted.
		t.endPackage(e)
	case e.Action == "pass":
		t.passed++
		delete(t.pending, name)
	case e.Action == "fail":
		t.failed = append(t.failed, name)
		fmt.Fprint(t.out, t.drain(name))
	case e.Action == "skip":
		t.skipped = append(t.skipped, skip{name: name, reason: reasonOf(t.drain(name))})
	}
}

// endPackage prints the output of a package's tests that did not end, because the test
// process ended first.
func (t *tally) endPackage(e event) {
	for name := range t.pending {
		if e.Action == "fail" && strings.HasPrefix(name, e.Package+" ") {
			fmt.Fprint(t.out, t.drain(name))
		}
	}
}

// output prints the output of a package at once, and stores the output of a test until the
// test ends.
func (t *tally) output(name string, e event) {
	if e.Test == "" {
		if e.Output != "PASS\n" {
			fmt.Fprint(t.out, e.Output)
		}
		return
	}
	if t.pending[name] == nil {
		t.pending[name] = &strings.Builder{}
	}
	t.pending[name].WriteString(e.Output)
}

// drain returns the stored output of a test and removes it from t.pending. It returns "" if
// there is none.
func (t *tally) drain(name string) string {
	b := t.pending[name]
	delete(t.pending, name)
	if b == nil {
		return ""
	}
	return b.String()
}

// reasonOf returns the first line of a skipped test's output that is not a status line such
// as "=== RUN". That line has the file and the reason.
func reasonOf(output string) string {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") {
			return line
		}
	}
	return "no reason given"
}

// verdict prints the numbers of results. It returns an error if a test failed or no test
// passed. If strict is true, it also returns an error if a test was skipped. Call it after
// read.
func (t *tally) verdict(strict bool) error {
	if len(t.skipped) > 0 {
		fmt.Fprintf(t.out, "\n==> %d TESTS DID NOT RUN <==\n", len(t.skipped))
		for _, s := range t.skipped {
			fmt.Fprintf(t.out, "skipped: %s: %s\n", s.name, s.reason)
		}
	}
	for _, name := range t.failed {
		fmt.Fprintf(t.out, "failed: %s\n", name)
	}
	fmt.Fprintf(t.out, "\n%d passed, %d failed, %d skipped\n", t.passed, len(t.failed), len(t.skipped))
	switch {
	case len(t.failed) > 0:
		return fmt.Errorf("%d tests failed", len(t.failed))
	case t.passed == 0:
		return errors.New("no test passed, so nothing was shown")
	case strict && len(t.skipped) > 0:
		return fmt.Errorf("%d tests were skipped, which CI=true does not allow", len(t.skipped))
	}
	return nil
}
