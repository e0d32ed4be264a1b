// Package scanningtest starts rspamd and clamd for tests. Both listen on the loopback only,
// with a configuration of their own that has no rule of the distribution. rspamd has one name
// server, a socket of the test process, and clamd has one file of signatures. Neither updates
// anything.
package scanningtest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest/daemon"
)

const (
	startAttempts = 10 // another process may take a free port first
	startWait     = 30 * time.Second
)

// scanner is a scanner that runs as a child process.
type scanner struct {
	program string
	// ready is in the line of output after which the scanner accepts connections.
	ready   string
	dir     string
	args    []string
	running *daemon.Daemon
	// Startup is the time that the scanner needed to start.
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

// start starts the scanner and waits until it accepts connections.
func (s *scanner) start() error {
	program, err := find(s.program)
	if err != nil {
		return err
	}
	began := core.SystemClock()
	s.running, err = daemon.Start(daemon.Config{Command: append([]string{program}, s.args...), Dir: s.dir, Ready: s.ready, Wait: startWait})
	s.Startup = core.SystemClock().Sub(began)
	return err
}

// Stop kills the scanner. Repeated calls have no effect.
func (s *scanner) Stop() { s.running.Stop() }

// write writes a file into the folder of the scanner.
func (s *scanner) write(name, text string) error {
	return os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600)
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
