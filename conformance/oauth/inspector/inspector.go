// Package inspector runs the command line of the MCP Inspector, the official tool for
// trying out MCP servers, against an agent endpoint.
package inspector

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/npm"
)

// wanted holds the files from which npm installs exact versions; see [npm.Packages].
//
//go:embed package.json package-lock.json .npmrc
var wanted embed.FS

// program is the path of the Inspector's program below the folder of packages.
const program = npm.Modules + "/@modelcontextprotocol/inspector/clients/launcher/build/index.js"

// runTimeout is the time after which the program is killed.
const runTimeout = 60 * time.Second

// maxLine is the longest line of the program's output in bytes.
const maxLine = 4 << 20

// question precedes the address for the sign-in in the output of the program.
const question = "Please navigate to: "

// Run runs the Inspector with the arguments and returns what it writes to standard output.
// The program can connect only to the loopback. When the program asks for a sign-in, Run
// calls visit with the address; visit is the person at the browser. The test fails if the
// program fails. The program keeps its clients and tokens in files in the folder home; runs
// with the same folder share them.
func Run(t testing.TB, home string, visit func(address string), args ...string) string {
	t.Helper()
	dir, node := npm.Packages(t, wanted), npm.Node(t)
	ctx, cancel := context.WithTimeout(t.Context(), runTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, append([]string{"--import", npm.Loopback(t), filepath.Join(dir, program), "--cli"}, args...)...)
	cmd.Dir = home
	// Without a terminal the program signs in only if it may open a browser. The folder of
	// its PATH is empty, so it finds none.
	cmd.Env = []string{"PATH=" + t.TempDir(), "HOME=" + cmd.Dir, "NO_COLOR=1", "MCP_AUTO_OPEN_ENABLED=true", "MCP_INSPECTOR_SECRET_STORE=file"}
	var answer bytes.Buffer
	cmd.WaitDelay = time.Second
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close() //nolint:errcheck // the test is over
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&answer, write), write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		done <- cmd.Wait()
		_ = write.Close() // ends the reading of the output
	}()
	var output strings.Builder
	lines := bufio.NewScanner(read)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		fmt.Fprintln(&output, lines.Text())
		if _, address, ok := strings.Cut(lines.Text(), question); ok {
			visit(address)
		}
	}
	if err := <-done; err != nil {
		t.Fatalf("the inspector: %v\n%s", err, output.String())
	}
	return answer.String()
}
