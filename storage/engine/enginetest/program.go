package enginetest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	// starts is the number of attempts to start a server on a free port, because another
	// process may take the port first.
	starts    = 10
	startWait = 20 * time.Second
)

// program is a server program that ends with the test process, even after a crash.
type program struct {
	// Closing input ends the running server. When the server has ended, the channel ended is
	// closed. The channel silent is closed when the server prints nothing more, because it has ended or
	// crashed.
	input         io.Closer
	silent, ended chan struct{}
	// lines is what the program has printed last.
	lines *lastLines
}

// programKeeper is the shell script that runs a program. It kills the program when its
// standard input ends: when stop closes the pipe, or when the test process ends.
const programKeeper = `"$@" & exec >/dev/null 2>&1; read -r _; kill -9 $!; wait`

// start runs a command and waits until it prints a line that contains ready. environment is
// added to the variables of this process.
func (p *program) start(environment []string, ready string, command ...string) error {
	cmd := exec.Command("sh", append([]string{"-c", programKeeper, "sh"}, command...)...)
	cmd.Env = append(os.Environ(), environment...)
	input, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return err
	}
	p.input, p.silent, p.ended, p.lines = input, make(chan struct{}), make(chan struct{}), &lastLines{}
	started := make(chan error, 1)
	go func(silent, ended chan struct{}, lines *lastLines) {
		defer close(ended)
		lines.read(output, ready, started)
		close(silent)
		_ = cmd.Wait() // always fails, because the program was killed
	}(p.silent, p.ended, p.lines)
	select {
	case err = <-started:
	case <-time.After(startWait):
		err = fmt.Errorf("not ready after %v", startWait)
	}
	if err != nil {
		p.stop()
	}
	return err
}

// stop kills the program. Repeated calls have no effect.
func (p *program) stop() {
	if p.input != nil {
		// The error is ignored: Close fails if the shell that reads from this pipe has
		// already exited.
		_ = p.input.Close()
		<-p.ended
		p.input = nil
	}
}

// lastLines are the last lines of the output of a program. They tell why it ended.
type lastLines struct {
	mu    sync.Mutex
	lines []string
}

// keptLines is the number of lines that lastLines keeps.
const keptLines = 5

func (l *lastLines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines[max(0, len(l.lines)+1-keptLines):], line)
}

// String returns the lines.
func (l *lastLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

// read reads output until it ends. It sends nil when a line contains ready, or an error if the output ends
// before that. The channel has room for one.
func (l *lastLines) read(output io.Reader, ready string, started chan<- error) {
	lines, isReady := bufio.NewScanner(output), false
	for lines.Scan() {
		l.add(lines.Text())
		if !isReady && strings.Contains(lines.Text(), ready) {
			isReady = true
			started <- nil
		}
	}
	if !isReady {
		started <- fmt.Errorf("the program ended: %s", l)
	}
	_, _ = io.Copy(io.Discard, output) // what follows a line that is too long
}
