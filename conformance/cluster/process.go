package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/program"
)

const (
	startTimeout = time.Minute
	endTimeout   = 30 * time.Second
)

// process is a server process, which can be killed and started again with the same arguments.
type process struct {
	binary string
	name   string
	args   []string
	// environment is added to the variables of this process.
	environment []string
	// log is the path of its log, which all its runs extend.
	log string
	cmd *exec.Cmd
	// ended receives the error of the run, once.
	ended chan error
}

// run starts a server process, and returns when it is ready. Its log goes to the file name.log in
// the folder of the topology. It is stopped at the end.
func (t *topology) run(tb testing.TB, name string, args ...string) *process {
	tb.Helper()
	s := &process{binary: t.binary, name: name, args: append([]string{"serve", "--config", t.config}, args...), environment: t.environment, log: filepath.Join(t.folder, name+".log")}
	tb.Cleanup(func() { s.stop(tb) })
	s.start(tb)
	return s
}

// start starts the process, and returns when it is ready. It starts a process again that ends by
// itself, as systemd does, because a server does not start without its database.
func (s *process) start(tb testing.TB) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), startTimeout)
	defer cancel()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		err := s.launch(ctx)
		if err == nil {
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			tb.Fatalf("%s does not start: %v\n%s", s.name, err, s.logged())
		}
	}
}

// launch starts the process once. It returns nil when the process is ready, or the error with which
// it ended.
func (s *process) launch(ctx context.Context) error {
	file, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	cmd := exec.Command(s.binary, s.args...)
	cmd.Env = append(program.Environment(), s.environment...)
	// The process ends with this one, and not at a Ctrl-C that the terminal sends to both.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	log := &watched{file: file, text: []byte(`"msg":"ready"`), found: make(chan struct{})}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return errors.Join(err, file.Close())
	}
	ended := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		_ = file.Close() // a log
		ended <- err
	}()
	select {
	case <-log.found:
		s.cmd, s.ended = cmd, ended
		return nil
	case err := <-ended:
		return fmt.Errorf("it ended: %w", err)
	case <-ctx.Done():
		_ = cmd.Process.Kill()
		<-ended
		return errors.New("it was not ready in time")
	}
}

// kill ends the process without a chance to finish anything. Repeated calls have no effect.
func (s *process) kill() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	<-s.ended // with an error, because it was killed
	s.cmd = nil
}

// stop ends the process in order, and fails the test if that takes too long or does not succeed.
func (s *process) stop(tb testing.TB) {
	tb.Helper()
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-s.ended:
		if err != nil {
			tb.Errorf("%s ended with %v", s.name, err)
		}
	case <-time.After(endTimeout):
		_ = s.cmd.Process.Kill()
		tb.Errorf("%s did not end by itself", s.name)
	}
	s.cmd = nil
}

// logged returns the end of the log.
func (s *process) logged() []byte {
	const most = 4000
	content, _ := os.ReadFile(s.log) // the caller reports a failure anyway
	return content[max(0, len(content)-most):]
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

func localURL(port int) string { return fmt.Sprintf("http://localhost:%d", port) }
