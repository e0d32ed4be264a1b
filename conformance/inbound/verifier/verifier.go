// Package verifier verifies webhooks with the Node.js library of Standard Webhooks.
package verifier

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/npm"
)

//go:embed package.json package-lock.json .npmrc
var wanted embed.FS

//go:embed verify.mjs
var script []byte

// runTimeout is the time after which the program is killed.
const runTimeout = 60 * time.Second

// Webhook is a request as it arrived. The names of its headers are in lower case.
type Webhook struct {
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// Verify returns "" for each webhook that the library accepts with a secret, or else its reason.
// On a machine without npm it skips the test, or fails it if CI is true.
func Verify(t testing.TB, secret string, webhooks []Webhook) []string {
	t.Helper()
	packages, node := npm.Packages(t, wanted), npm.Node(t)
	task, err := json.Marshal(map[string]any{"secret": secret, "webhooks": webhooks})
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "verify.mjs")
	if err := os.WriteFile(program, script, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), runTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "--import", npm.Loopback(t), program, packages)
	var complaints bytes.Buffer
	cmd.Stdin, cmd.Stderr, cmd.Env = bytes.NewReader(task), &complaints, []string{"PATH=" + os.Getenv("PATH"), "NO_COLOR=1"}
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, complaints.String())
	}
	var results []string
	if err := json.Unmarshal(output, &results); err != nil || len(results) != len(webhooks) {
		t.Fatalf("%s: %v", output, err)
	}
	return results
}
