package readme

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// lastLine is the beginning of the last line that `mailhelm demo` prints when it is ready.
const lastLine = "Ctrl-C stops"

// patience is how long a demo may run before it is killed. The test then fails and shows
// the demo's output.
const patience = 2 * time.Minute

// demo is a running `mailhelm demo`. dir is its working folder, and port the first of its
// ports. printed is the output that it printed before it was ready.
type demo struct {
	dir     string
	port    int
	printed string
}

// program builds the program mailhelm once for all tests, without debug information, which
// would take most of the time. It returns the path of the binary, or the error of the
// build.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "mailhelm-readme-")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "mailhelm")
	output, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", binary, "../../cmd/mailhelm").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, output)
	}
	return binary, nil
})

func TestMain(m *testing.M) {
	if os.Getenv(actAsCurl) != "" {
		os.Exit(curl(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	code := m.Run()
	if binary, err := program(); err == nil {
		os.RemoveAll(filepath.Dir(binary)) //nolint:errcheck // a leftover in the temporary folder
	}
	os.Exit(code)
}

// startDemo starts a demo and waits until it is ready. If that fails, for example because
// another program uses a port, it tries again with other ports, up to five times. env has
// further environment variables.
func startDemo(t *testing.T, env ...string) *demo {
	t.Helper()
	binary, err := program()
	if err != nil {
		t.Fatal(err)
	}
	d := &demo{dir: t.TempDir()}
	for range 5 {
		d.port = freeRow(t)
		if err = d.start(t, binary, env); err == nil {
			return d
		}
	}
	t.Fatal(err)
	return nil
}

func (d *demo) start(t *testing.T, binary string, env []string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel) // runs after stop
	cmd := exec.CommandContext(ctx, binary, "demo", "--port", strconv.Itoa(d.port))
	cmd.Dir, cmd.Env = d.dir, append(os.Environ(), env...)
	var log strings.Builder
	cmd.Stderr = &log
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var printed strings.Builder
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		printed.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), lastLine) {
			d.printed = printed.String()
			t.Cleanup(func() { stop(t, cmd, stdout, &log) })
			return nil
		}
	}
	return fmt.Errorf("the demo ended: %w: %s%s", cmd.Wait(), printed.String(), log.String())
}

// stop interrupts the demo as Ctrl-C does and waits for its end. It fails the test if the
// demo exits with an error.
func stop(t *testing.T, cmd *exec.Cmd, stdout io.Reader, log *strings.Builder) {
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Error(err)
	}
	_, _ = io.Copy(io.Discard, stdout)
	if err := cmd.Wait(); err != nil {
		t.Errorf("the demo did not end in order: %v: %s", err, log)
	}
}

// freeRow returns the first of six consecutive ports that are free on the loopback
// interface.
func freeRow(t *testing.T) int {
	t.Helper()
	for range 50 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		first := l.Addr().(*net.TCPAddr).Port
		err = errors.Join(l.Close(), rowFree(first))
		if err == nil {
			return first
		}
	}
	t.Fatal("no six free ports in a row were found")
	return 0
}

func rowFree(first int) error {
	var row []net.Listener
	var failures []error
	for port := first; port < first+6; port++ {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			failures = append(failures, err)
			continue
		}
		row = append(row, l)
	}
	for _, l := range row {
		failures = append(failures, l.Close())
	}
	return errors.Join(failures...)
}

type credentials struct {
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
}

func (d *demo) credentials(t *testing.T) credentials {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(d.dir, "mailhelm-data", "demo.json"))
	if err != nil {
		t.Fatal(err)
	}
	var c credentials
	if err := json.Unmarshal(text, &c); err != nil || c.ClientID == "" {
		t.Fatalf("demo.json: %v", err)
	}
	return c
}

// boundary is printed between the outputs of two commands, so that the method paste can
// split the outputs.
const boundary = "\n-- next --\n"

// paste runs the commands one after another in the same shell, and returns the output of
// each. path is the shell's PATH.
func (d *demo) paste(t *testing.T, path string, commands []string) []string {
	t.Helper()
	outputs, err := d.tryPaste(path, commands)
	if err != nil {
		t.Fatal(err)
	}
	return outputs
}

// tryPaste does what paste does. It fails if a command does, or writes to standard error.
func (d *demo) tryPaste(path string, commands []string) ([]string, error) {
	script := OnPorts(strings.Join(commands, "printf '"+strings.ReplaceAll(boundary, "\n", `\n`)+"'\n"), d.port)
	sh := exec.Command("sh", "-u")
	sh.Dir = d.dir
	sh.Stdin = strings.NewReader(script)
	sh.Env = append(os.Environ(), "PATH="+path, actAsCurl+"=1")
	var complaints strings.Builder
	sh.Stderr = &complaints
	output, err := sh.Output()
	if err != nil || complaints.Len() > 0 {
		return nil, fmt.Errorf("%w: %s%s", err, output, complaints.String())
	}
	outputs := strings.Split(string(output), boundary)
	if len(outputs) != len(commands) {
		return nil, fmt.Errorf("%d outputs of %d commands:\n%s", len(outputs), len(commands), output)
	}
	return outputs, nil
}
