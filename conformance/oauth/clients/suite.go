package clients

import (
	"bufio"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/npm"
)

// suiteProgram is the path of the command-line program of the npm package
// @modelcontextprotocol/conformance.
const suiteProgram = npm.Modules + "/@modelcontextprotocol/conformance/dist/index.js"

// SuiteTask has the arguments of the official conformance suite for authorization servers.
type SuiteTask struct {
	// Issuer is the URL of the authorization server.
	Issuer   string
	ClientID string // a public client, see Suite
	// Resource is the resource indicator for which tokens are requested (RFC 8707).
	Resource string
	// Port is the loopback port of the suite's redirect URI, http://127.0.0.1:Port/callback.
	Port int
}

// Check is the result of one check that the suite made on the server.
type Check struct {
	// ID is the identifier that the suite gives the check.
	ID     string `json:"id"`
	Status string `json:"status"` // SUCCESS, FAILURE, WARNING, SKIPPED or INFO
	// Message is the suite's explanation of a failure or a warning; it may be "".
	Message string `json:"errorMessage"`
}

// Suite runs all scenarios of the official suite for authorization servers. It calls visit
// with each authorization request, in the caller's goroutine. visit must approve the
// request and follow the redirect to the suite. The client must be public, because the
// suite sends no secret to a server that supports public clients.
func Suite(t testing.TB, task SuiteTask, visit func(address string)) []Check {
	t.Helper()
	results := t.TempDir()
	cmd, complaints := command(t, suiteProgram, "authorization", "--url", task.Issuer, "--client-id", task.ClientID,
		"--resource", task.Resource, "--port", strconv.Itoa(task.Port), "--output-dir", results)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var output strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		output.WriteString(lines.Text() + "\n")
		if u, err := url.Parse(lines.Text()); err == nil && u.IsAbs() && u.Query().Get("client_id") == task.ClientID {
			visit(lines.Text())
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the suite ended with %v\n%s%s", err, output.String(), complaints.String())
	}
	return readChecks(t, results)
}

// readChecks returns the checks of all scenarios in the suite's folder of results.
func readChecks(t testing.TB, dir string) []Check {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var all []Check
	for _, folder := range folders {
		all = append(all, checksOf(t, folder)...)
	}
	return all
}

// checksOf returns the checks of one scenario, from the file checks.json in its folder.
func checksOf(t testing.TB, folder string) []Check {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, "checks.json"))
	if err != nil {
		t.Fatal(err)
	}
	var checks []Check
	if err := json.Unmarshal(content, &checks); err != nil {
		t.Fatalf("%s: %v", folder, err)
	}
	return checks
}
