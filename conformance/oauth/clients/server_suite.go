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

// ServerSuiteTask has the arguments of the suite for MCP servers.
type ServerSuiteTask struct {
	URL string // the URL of the endpoint, with the host localhost
	// Requirements is the revision of the specification whose required scenarios run.
	Requirements string
	// Baseline is the path of a YAML file with the scenarios that are expected to fail.
	Baseline string
}

// Verdict has the checks of one scenario.
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

// ServerSuite runs the official suite for MCP servers and returns the verdicts by
// scenario. The error reports a scenario that fails or warns unexpectedly, or passes
// although it is in the baseline.
func ServerSuite(t testing.TB, task ServerSuiteTask) (map[string]Verdict, error) {
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
		err = fmt.Errorf("the suite ended with %w\n%s%s", err, said, complaints.String())
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

// ScoredScenarios returns the scenarios that the suite requires of a server at a
// revision. It fails the test for a revision that the suite does not have.
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

// suiteRequirements is a folder with a file for each revision.
const suiteRequirements = npm.Modules + "/@modelcontextprotocol/conformance/requirements"

// resultFolder matches the name that the suite gives to the folder of a scenario, which
// ends with the time.
var resultFolder = regexp.MustCompile(`^server-(.+?)-\d{4}-\d\d-\d\dT.*$`)
