package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/npm"
)

// ServerSuiteTask has the arguments of the official conformance suite for MCP servers.
type ServerSuiteTask struct {
	URL string // the URL of the MCP endpoint, with the host localhost
	// Requirements is the revision of the MCP specification whose required scenarios run.
	Requirements string
	// Baseline is the path of a YAML file with the scenarios that are expected to fail.
	Baseline string
}

// Verdict has the results of all checks in one scenario of the MCP test suite.
type Verdict []Check

// Passed reports whether at least one check succeeded and none failed or warned.
func (v Verdict) Passed() bool {
	return len(v.with("SUCCESS")) > 0 && len(v.Objections()) == 0
}

// Objections returns the ids of the checks that failed or warned.
func (v Verdict) Objections() []string { return v.with("FAILURE", "WARNING") }

// with returns the ids of the checks that have one of the statuses, in order.
func (v Verdict) with(statuses ...string) []string {
	var ids []string
	for _, c := range v {
		if slices.Contains(statuses, c.Status) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// ServerSuite runs the official suite for MCP servers and returns the verdicts by scenario.
// The baseline lists the scenarios that are expected to fail. ServerSuite fails if any
// other scenario fails or warns, or if a scenario in the baseline passes.
func ServerSuite(t testing.TB, task ServerSuiteTask) (map[string]Verdict, error) {
	t.Helper()
	baseline, err := filepath.Abs(task.Baseline)
	if err != nil {
		t.Fatal(err)
	}
	results := t.TempDir()
	cmd, complaints := command(t, suiteProgram, "server", "--url", task.URL, "--requirements", task.Requirements,
		"--expected-failures", baseline, "--output-dir", results)
	output, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("the suite ended with %w\n%s%s", err, output, complaints.String())
	}
	folders, globErr := filepath.Glob(filepath.Join(results, "*"))
	if globErr != nil {
		t.Fatal(globErr)
	}
	verdicts := map[string]Verdict{}
	for _, folder := range folders {
		if parts := resultFolder.FindStringSubmatch(filepath.Base(folder)); parts != nil {
			verdicts[parts[1]] = checksOf(t, folder)
		}
	}
	return verdicts, err
}

// ScoredScenarios returns the scenarios that the suite requires of an MCP server at a
// revision of the specification. It fails the test if the suite has no such revision.
func ScoredScenarios(t testing.TB, revision string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(workshop(t), suiteRequirements, revision+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "\nserver:\n")
	var scenarios []string
	for line := range strings.Lines(list) {
		scenario, ok := strings.CutPrefix(line, "  - ")
		if !ok {
			break
		}
		scenarios = append(scenarios, strings.TrimSpace(scenario))
	}
	return scenarios
}

// suiteRequirements is the suite's folder with one file of required scenarios for each
// revision of the MCP specification.
const suiteRequirements = npm.Modules + "/@modelcontextprotocol/conformance/requirements"

// resultFolder matches the name of a folder of results: the scenario, then the time of the
// run.
var resultFolder = regexp.MustCompile(`^server-(.+?)-\d{4}-\d\d-\d\dT.*$`)
