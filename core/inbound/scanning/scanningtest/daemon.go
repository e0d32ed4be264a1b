// Package scanningtest starts rspamd and clamd for tests. Both listen on the loopback only,
// with a configuration of their own that has no rule of the distribution. rspamd has one name
// server, a socket of the test process, and clamd has one file of signatures. Neither updates
// anything.
package scanningtest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

const (
	startAttempts = 10 // another process may take a free port first
	startWait     = 30 * time.Second
)

// keeper is the shell script that runs a daemon in a process group of its own. When its
// standard input ends, because Stop closed the pipe or the test process ended, it kills the
// group.
const keeper = `setsid "$@" 2>&1 & pid=$!; exec >/dev/null; read -r _; kill -9 -$pid; wait`

// daemon is a scanner that runs as a child process.
type daemon struct {
	program string
	// ready is in the line of output after which the daemon accepts connections.
	ready string
	dir   string
	args  []string
	// Closing stop ends the running daemon. ended is closed when it has ended.
	stop  io.Closer
	ended chan struct{}
	// Startup is the time that the daemon needed to start.
	Startup time.Duration
}

// find returns the path of a program. Daemons are often not in the PATH of users.
func find(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		path, err = exec.LookPath(filepath.Join("/usr/sbin", name))
	}
	return path, err
}

// require skips the test if a program is not installed, or fails it if CI is "true".
func require(tb testing.TB, program, debianPackage string) {
	tb.Helper()
	if _, err := find(program); err != nil || !enginetest.Services() {
		enginetest.SkipMissing(tb, fmt.Sprintf("SCANNER TESTS SKIPPED: %s is not installed; install the package %s", program, debianPackage))
	}
}

// start starts the daemon and waits until it accepts connections.
func (d *daemon) start() error {
	program, err := find(d.program)
	if err != nil {
		return err
	}
	began := core.SystemClock()
	cmd := exec.Command("sh", append([]string{"-c", keeper, "sh", program}, d.args...)...) //nolint:gosec // the arguments are those of this package
	cmd.Dir = d.dir
	stop, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	d.stop, d.ended = stop, make(chan struct{})
	ready := make(chan error, 1)
	go func() {
		defer close(d.ended)
		ready <- d.readyIn(output)
		_, _ = io.Copy(io.Discard, output) // until the daemon has ended
		_ = cmd.Wait()                     // always fails, because the process was killed
	}()
	select {
	case err = <-ready:
	case <-time.After(startWait):
		err = fmt.Errorf("%s is not ready after %v", d.program, startWait)
	}
	d.Startup = core.SystemClock().Sub(began)
	if err != nil {
		d.Stop()
	}
	return err
}

// readyIn reads the output of the daemon until it accepts connections. It fails if the output
// ends before, with the last lines of the output.
func (d *daemon) readyIn(output io.Reader) error {
	lines := bufio.NewScanner(output)
	var said []string
	for lines.Scan() {
		said = append(said, lines.Text())
		if strings.Contains(lines.Text(), d.ready) {
			return nil
		}
	}
	return fmt.Errorf("%s ended:\n%s", d.program, strings.Join(said[max(0, len(said)-10):], "\n"))
}

// Stop kills the daemon. Repeated calls have no effect.
func (d *daemon) Stop() {
	if d.stop != nil {
		_ = d.stop.Close() // it fails if the keeper has ended already
		<-d.ended
		d.stop = nil
	}
}

// write writes a file into the folder of the daemon.
func (d *daemon) write(name, text string) error {
	return os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o600)
}

// freePort returns a port of the loopback interface on which no process listens.
func freePort(tb testing.TB) (int, error) {
	var config net.ListenConfig
	l, err := config.Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}
