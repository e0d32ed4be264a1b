// Command verdict runs go test and judges the run as a whole. It prints the result of
// each package and the output of failed tests, lists every skipped test, and fails if no
// test ran. With CI=true a skipped test is a failure, because it has checked nothing.
//
// It contains no tests and passes its arguments to go test unchanged. "go test ./..."
// gives the same results without the last two rules.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
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

// run runs go test with args and returns an error unless everything passed. strict makes
// skipped tests an error. The end of ctx kills go test.
func run(ctx context.Context, args []string, strict bool, out io.Writer) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
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
		// The pipe is read to its end, because go test would otherwise block on it.
		_, _ = io.Copy(io.Discard, events)
	}
	return errors.Join(readErr, cmd.Wait(), t.verdict(strict))
}
