package enginetest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
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
	// closed.
	input io.Closer
	ended chan struct{}
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
	p.input, p.ended = input, make(chan struct{})
	started := make(chan error, 1)
	go func() {
		defer close(p.ended)
		started <- awaitLine(output, ready)
		_, _ = io.Copy(io.Discard, output) // until the program has ended
		_ = cmd.Wait()                     // always fails, because the program was killed
	}()
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

// awaitLine reads output until a line contains ready. It returns an error if the output ends
// before that.
func awaitLine(output io.Reader, ready string) error {
	lines := bufio.NewScanner(output)
	var last string
	for lines.Scan() {
		if last = lines.Text(); strings.Contains(last, ready) {
			return nil
		}
	}
	return fmt.Errorf("the program ended: %s", last)
}
