// Package linters checks OpenAPI documents with two linters from npm, Redocly and Spectral.
package linters

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/npm"
)

// wanted holds the files from which npm installs exact versions, and the rules of the
// linters.
//
//go:embed package.json package-lock.json .npmrc redocly.yaml spectral.yaml
var wanted embed.FS

// runTimeout is the time after which a linter is killed.
const runTimeout = 60 * time.Second

// Problem is an error or a warning of a linter about a document.
type Problem struct {
	// Document is the name of the document's file.
	Document string
	// Rule is the name of the rule, and Message says what is wrong and where.
	Rule, Message string
}

// Redocly checks the files with the rules in redocly.yaml.
func Redocly(t testing.TB, files ...string) []Problem {
	t.Helper()
	dir := npm.Packages(t, wanted)
	output := run(t, dir, "@redocly/cli/bin/cli.js", append([]string{"lint", "--config", filepath.Join(dir, "redocly.yaml"), "--format", "json"}, files...)...)
	var found []Problem
	// The program writes one report for each file.
	for reports := json.NewDecoder(bytes.NewReader(output)); ; {
		var report redoclyReport
		err := reports.Decode(&report)
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatalf("redocly: %v\n%s", err, output)
		}
		found = append(found, report.problems()...)
	}
}

// redoclyReport is what Redocly writes about a file.
type redoclyReport struct {
	Problems []struct {
		Rule     string `json:"ruleId"`
		Message  string `json:"message"`
		Location []struct {
			Source struct {
				Ref string `json:"ref"`
			} `json:"source"`
			Pointer string `json:"pointer"`
		} `json:"location"`
	} `json:"problems"`
}

// problems returns the problems of the report.
func (r redoclyReport) problems() []Problem {
	var found []Problem
	for _, p := range r.Problems {
		one := Problem{Rule: p.Rule, Message: p.Message}
		if len(p.Location) > 0 {
			one.Document, one.Message = filepath.Base(p.Location[0].Source.Ref), p.Location[0].Pointer+": "+p.Message
		}
		found = append(found, one)
	}
	return found
}

// Spectral checks the files with the rules in spectral.yaml.
func Spectral(t testing.TB, files ...string) []Problem {
	t.Helper()
	dir := npm.Packages(t, wanted)
	report := filepath.Join(t.TempDir(), "report.json")
	run(t, dir, "@stoplight/spectral-cli/dist/index.js", append([]string{
		"lint", "--ruleset", filepath.Join(dir, "spectral.yaml"), "--fail-severity", "warn", "--format", "json", "--output", report,
	}, files...)...)
	output, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var listed []struct {
		Source  string          `json:"source"`
		Code    string          `json:"code"`
		Message string          `json:"message"`
		Path    json.RawMessage `json:"path"`
	}
	if err := json.Unmarshal(output, &listed); err != nil {
		t.Fatalf("spectral: %v\n%s", err, output)
	}
	var found []Problem
	for _, p := range listed {
		found = append(found, Problem{Document: filepath.Base(p.Source), Rule: p.Code, Message: string(p.Path) + ": " + p.Message})
	}
	return found
}

// run runs a program of the packages in dir and returns its standard output. The program can
// connect only to the loopback. Its exit status may be 1, with which linters report problems.
func run(t testing.TB, dir, program string, args ...string) []byte {
	t.Helper()
	node := npm.Node(t)
	ctx, cancel := context.WithTimeout(t.Context(), runTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, append([]string{"--import", npm.Loopback(t), filepath.Join(dir, npm.Modules, program)}, args...)...)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + cmd.Dir, "NO_COLOR=1", "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true"}
	cmd.WaitDelay = time.Second
	output, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok && failed.ExitCode() != 1 || err != nil && !ok {
		t.Fatalf("%s: %v\n%s", program, err, output)
	}
	return output
}
