package main

import (
	"bytes"
	"context"
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

const (
	startTimeout = time.Minute
	endTimeout   = 30 * time.Second
)

// program is the path of the program mailhelm.
type program string

// run runs a command to its end and returns its standard output.
func (p program) run(tb testing.TB, args ...string) string {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), string(p), args...)
	cmd.Env = withoutSettings(os.Environ())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		tb.Fatalf("mailhelm %s: %v\n%s%s", strings.Join(args, " "), err, output, &stderr)
	}
	return string(output)
}

// serve starts a server process, and returns when it is ready. Its log goes to the file
// name.log in folder. It is stopped at the end.
func (p program) serve(tb testing.TB, folder, name string, args ...string) {
	tb.Helper()
	file, err := os.Create(filepath.Join(folder, name+".log"))
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(string(p), append([]string{"serve"}, args...)...)
	cmd.Env = withoutSettings(os.Environ())
	// The process ends with this one, and not at a Ctrl-C that the terminal sends to both.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	log := &watched{file: file, text: []byte(`"msg":"ready"`), found: make(chan struct{})}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tb.Cleanup(func() {
		defer file.Close() //nolint:errcheck // a log
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case err := <-ended:
			if err != nil {
				tb.Errorf("%s ended with %v", name, err)
			}
		case <-time.After(endTimeout):
			_ = cmd.Process.Kill()
			tb.Errorf("%s did not end by itself", name)
		}
	})
	ctx, cancel := context.WithTimeout(tb.Context(), startTimeout)
	defer cancel()
	select {
	case <-log.found:
	case err := <-ended:
		ended <- err
		tb.Fatalf("%s ended: %v\n%s", name, err, logOf(file))
	case <-ctx.Done():
		tb.Fatalf("%s was not ready in time\n%s", name, logOf(file))
	}
}

func logOf(file *os.File) []byte {
	content, _ := os.ReadFile(file.Name()) // the caller reports a failure anyway
	return content
}

// watched writes to a file, and closes found when a text was written.
type watched struct {
	mu    sync.Mutex
	file  io.Writer
	text  []byte
	last  []byte
	found chan struct{}
	done  bool
}

// Write implements io.Writer.
func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.done {
		w.last = append(w.last, b...)
		if w.done = bytes.Contains(w.last, w.text); w.done {
			close(w.found)
			w.last = nil
		}
	}
	return w.file.Write(b)
}

// withoutSettings returns the environment without the settings of Mailhelm.
func withoutSettings(environment []string) []string {
	var kept []string
	for _, v := range environment {
		if !strings.HasPrefix(v, "MAILHELM_") {
			kept = append(kept, v)
		}
	}
	return kept
}

// freePorts returns the first of n consecutive free ports of the loopback interface, from
// the port from on.
func freePorts(tb testing.TB, from, n int) int {
	tb.Helper()
	for first := from; first < from+200*n; first += n {
		if allFree(tb.Context(), first, n) {
			return first
		}
	}
	tb.Fatalf("no %d free ports in a row from %d on", n, from)
	return 0
}

func allFree(ctx context.Context, first, n int) bool {
	var config net.ListenConfig
	for port := first; port < first+n; port++ {
		l, err := config.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return false
		}
		_ = l.Close()
	}
	return true
}

func localURL(port int) string { return fmt.Sprintf("http://localhost:%d", port) }
