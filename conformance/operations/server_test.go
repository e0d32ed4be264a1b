package operations

import (
	"bufio"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
)

// program is the file name under which the test binary runs Mailhelm instead of the tests.
const program = "mailhelm"

// commands are those commands of Mailhelm that the tests run.
type commands struct {
	Config string        `help:"Configuration file." placeholder:"FILE"`
	Serve  serve.Command `cmd:"" help:"Run the service."`
}

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == program {
		os.Exit(runProgram())
	}
	slog.SetDefault(slog.New(slog.DiscardHandler)) // libraries log to it
	os.Exit(m.Run())
}

// runProgram runs a command as the function main of Mailhelm does.
func runProgram() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return cli.Run(ctx, &commands{}, os.Args[1:], cli.Surroundings{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Lookup: os.LookupEnv, BusyWait: time.Minute,
	})
}

// server is a process of Mailhelm, which can be started again with the same arguments.
type server struct {
	args  []string
	cmd   *exec.Cmd
	lines *bufio.Scanner

	mu  sync.Mutex
	log strings.Builder
	// ended is closed when the output of the process has ended.
	ended chan struct{}
}

// start starts the process and waits until it is ready.
func (s *server) start(t *testing.T, binary string) {
	t.Helper()
	s.cmd = exec.Command(binary, append([]string{"serve"}, s.args...)...)
	s.cmd.Dir = t.TempDir()
	out, err := s.cmd.StderrPipe()
	must(t, err)
	must(t, s.cmd.Start())
	s.lines, s.ended = bufio.NewScanner(out), make(chan struct{})
	ready := make(chan bool, 1)
	go func() {
		defer close(s.ended)
		for s.lines.Scan() {
			s.note(s.lines.Text())
			if strings.Contains(s.lines.Text(), `"msg":"ready"`) {
				ready <- true
			}
		}
		ready <- false
	}()
	select {
	case ok := <-ready:
		if !ok {
			t.Fatalf("the server did not start:\n%s", s.logged())
		}
	case <-time.After(time.Minute):
		t.Fatalf("the server is not ready:\n%s", s.logged())
	}
}

func (s *server) note(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.WriteString(line + "\n")
}

// logged returns the end of the log.
func (s *server) logged() string {
	const most = 4000
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.log.String()
	return text[max(0, len(text)-most):]
}

// stop sends SIGTERM and waits for the end. It returns the error of the process.
func (s *server) stop(t *testing.T) error {
	t.Helper()
	must(t, s.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-s.ended:
	case <-time.After(time.Minute):
		_ = s.cmd.Process.Kill()
		t.Fatalf("the server did not end:\n%s", s.logged())
	}
	return s.cmd.Wait()
}

// link makes a symbolic link to the test binary under the name of the program.
func link(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	path := filepath.Join(t.TempDir(), program)
	must(t, os.Symlink(self, path))
	return path
}
