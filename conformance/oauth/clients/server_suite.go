package clients

import (
	"path/filepath"
	"regexp"
	"testing"
)

// ServerSuiteTask is what the suite for MCP servers needs to know.
type ServerSuiteTask struct {
	URL string // of the endpoint, on the name localhost
	// Requirements is the revision whose required scenarios run.
	Requirements string
	// Baseline is a YAML file with the scenarios that are expected to fail.
	Baseline string
}

// Verdict is the checks of one scenario.
type Verdict []Check

// Passed reports whether there were checks and none found a thing to object to.
func (v Verdict) Passed() bool {
	for _, c := range v {
		if c.Status != "SUCCESS" && c.Status != "SKIPPED" && c.Status != "INFO" {
			return false
		}
	}
	return len(v) > 0
}

// ServerSuite runs the official suite for MCP servers and returns the verdicts by
// scenario. A scenario that fails unexpectedly, or passes although the baseline
// has it, fails the test.
func ServerSuite(t testing.TB, task ServerSuiteTask) map[string]Verdict {
	t.Helper()
	baseline, err := filepath.Abs(task.Baseline)
	if err != nil {
		t.Fatal(err)
	}
	results := t.TempDir()
	cmd, complaints := command(t, suiteProgram, "server", "--url", task.URL, "--requirements", task.Requirements,
		"--expected-failures", baseline, "--output-dir", results)
	said, err := cmd.Output()
	if err != nil {
		t.Errorf("the suite ended with %v\n%s%s", err, said, complaints.String())
	}
	folders, err := filepath.Glob(filepath.Join(results, "*"))
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]Verdict{}
	for _, folder := range folders {
		if parts := resultFolder.FindStringSubmatch(filepath.Base(folder)); parts != nil {
			verdicts[parts[1]] = checksOf(t, folder)
		}
	}
	return verdicts
}

// resultFolder is how the suite names the folder of a scenario: with the time.
var resultFolder = regexp.MustCompile(`^server-(.+?)-\d{4}-\d\d-\d\dT.*$`)
