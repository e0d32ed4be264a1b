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
	// Action is the kind of the event, such as output, pass, fail or skip.
	Action string
	// Package is the import path; "" for the output of a build.
	Package string
	// Test has the names of a subtest's parents too, separated by slashes. It is "" for
	// an event of the whole package.
	Test string
	// Output is a part of the output, usually one line.
	Output string
}

// tally counts the results of tests. Subtests count like tests.
type tally struct {
	out     io.Writer
	pending map[string]*strings.Builder // output of running tests, by package and test
	passed  int
	// failed and skipped have the package and the test, in the order in which the tests
	// ended.
	failed  []string
	skipped []skip
}

// skip is a skipped test with the line that contains its reason.
type skip struct{ name, reason string }

// newTally returns an empty tally that prints to out.
func newTally(out io.Writer) *tally {
	return &tally{out: out, pending: map[string]*strings.Builder{}}
}

// read reads events until the stream ends. It prints lines that are not events, which
// come from the go command itself.
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

// take counts one line. It prints the pending output of a failed test and discards that
// of a passed one.
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
		// The end of the package itself; go test's exit code includes it.
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

// endPackage prints the output of tests that never ended because the process died.
func (t *tally) endPackage(e event) {
	for name := range t.pending {
		if e.Action == "fail" && strings.HasPrefix(name, e.Package+" ") {
			fmt.Fprint(t.out, t.drain(name))
		}
	}
}

// output prints the output of a package at once, and keeps that of a test until its end.
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

// drain removes and returns the pending output of a test; "" if there is none.
func (t *tally) drain(name string) string {
	b := t.pending[name]
	delete(t.pending, name)
	if b == nil {
		return ""
	}
	return b.String()
}

// reasonOf returns the line of a test's output with its reason, which names the file.
func reasonOf(output string) string {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") {
			return line
		}
	}
	return "no reason given"
}

// verdict prints the totals and returns an error if the run is not acceptable. It must
// be called after read. strict makes skipped tests an error.
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
