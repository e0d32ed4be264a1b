// Package daemon runs server programs of tests. A program ends with the test process, even after a crash, and
// not at a Ctrl-C that the terminal sends to all processes: the test process stops it in order.
package daemon

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Config says what to run.
type Config struct {
	// Command is the program and its arguments. It must stay in the foreground.
	Command []string
	// Environment is added to the variables of this process. Dir is the working folder, "" for the present one.
	Environment []string
	Dir         string
	// Ready is in the line of output after which the program works; "" if no line tells that. Wait is how long to
	// wait for it.
	Ready string
	Wait  time.Duration
}

// Daemon is a program that Start has started.
type Daemon struct {
	keeper *exec.Cmd
	// Closing input ends the program.
	input io.Closer
	// silent is closed when the program prints nothing more, because it has ended or was stopped. ended is closed
	// when its keeper has ended too.
	silent, ended chan struct{}
	output        lastLines
}

// keeper is the shell script that runs the program in a process group of its own. When its standard input ends,
// because Stop closed the pipe or the test process ended, it kills the group and waits for the program.
const keeper = `setsid "$@" 2>&1 & pid=$!; exec >/dev/null 2>&1; read -r _; kill -9 -$pid; wait`

// Start runs a program and waits until it is ready. If it is not, its last lines of output are in the error.
func Start(c Config) (*Daemon, error) {
	cmd := exec.Command("sh", append([]string{"-c", keeper, "sh"}, c.Command...)...)
	cmd.Dir, cmd.Env = c.Dir, append(os.Environ(), c.Environment...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	d := &Daemon{keeper: cmd, input: input, silent: make(chan struct{}), ended: make(chan struct{})}
	ready := make(chan struct{})
	go func() {
		defer close(d.ended)
		d.output.read(output, c.Ready, ready)
		close(d.silent)
		_ = cmd.Wait() // the status says nothing: the program was killed
	}()
	if c.Ready == "" {
		return d, nil
	}
	select {
	case <-ready:
		return d, nil
	case <-d.silent:
		err = fmt.Errorf("%s ended: %s", c.Command[0], d.Output())
	case <-time.After(c.Wait):
		err = fmt.Errorf("%s is not ready after %v: %s", c.Command[0], c.Wait, d.Output())
	}
	d.Stop()
	return nil, err
}

// Stop kills the program, and returns when it has ended. It may be called again, and on nil.
func (d *Daemon) Stop() {
	if d == nil {
		return
	}
	_ = d.input.Close() // fails if it is closed already
	<-d.ended
}

// Silent returns a channel that is closed when the program has ended.
func (d *Daemon) Silent() <-chan struct{} { return d.silent }

// Output returns the last lines that the program has printed.
func (d *Daemon) Output() string { return d.output.String() }

// lastLines are the last lines of output.
type lastLines struct {
	mu    sync.Mutex
	lines []string
}

// keptLines is the number of lines that lastLines keeps.
const keptLines = 40

func (l *lastLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

func (l *lastLines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines[max(0, len(l.lines)+1-keptLines):], line)
}

// read reads output until it ends, and closes ready at the first line that contains the text.
func (l *lastLines) read(output io.Reader, text string, ready chan struct{}) {
	lines, isReady := bufio.NewScanner(output), false
	for lines.Scan() {
		l.add(lines.Text())
		if !isReady && strings.Contains(lines.Text(), text) {
			isReady = true
			close(ready)
		}
	}
	_, _ = io.Copy(io.Discard, output) // what follows a line that is too long
}
