// Command verdict runs go test and evaluates the run as a whole. It prints the result of
// each package and the output of failed tests, and lists every skipped test. It fails if no
// test ran. With CI=true it also fails if a test was skipped, because a skipped test has
// checked nothing.
//
// The command passes its arguments to go test. A plain "go test ./..." gives the same
// results without the rules about skipped tests and about runs without tests. Verdict is a
// little faster: it lets all processes collect garbage less often (see [environment]), and
// runs one package more at a time than the machine has processors, because many tests wait
// for a database. The flag -p overrides that number of packages.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Getenv("CI") == "true", os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "verdict:", err)
		os.Exit(1)
	}
}

// run runs go test with args. It returns an error unless all tests passed. If strict is
// true, a skipped test is an error, too. When ctx ends, go test is killed.
func run(ctx context.Context, args []string, strict bool, out io.Writer) error {
	packages := strconv.Itoa(runtime.NumCPU() + 1)
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json", "-p", packages}, args...)...)
	cmd.Stderr, cmd.Env = os.Stderr, environment(os.Environ())
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	t := newTally(out)
	readErr := t.read(events)
	if readErr != nil {
		// The rest of the output is read, because go test would otherwise block on the full
		// pipe.
		_, _ = io.Copy(io.Discard, events)
	}
	return errors.Join(readErr, cmd.Wait(), t.verdict(strict))
}

// environment returns the environment variables for go test: those given, and GOGC=400
// unless they set GOGC. A started server sets the same value for itself; see
// core/doc/decisions, page 0036.
func environment(given []string) []string {
	for _, variable := range given {
		if strings.HasPrefix(variable, "GOGC=") {
			return given
		}
	}
	return append(given[:len(given):len(given)], "GOGC=400")
}
