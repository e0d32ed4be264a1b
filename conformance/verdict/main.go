// Command verdict runs go test and judges the run as a whole: it passes on
// what go test says of each package, shows the output of what failed, names every
// skipped test, and fails when nothing ran. With CI=true a skipped test is a
// failure, because a check that did not run has shown nothing.
//
// It owns no test and no opinion about one; its arguments go to go test as they
// are. "go test ./..." gives the same results without the last two rules.
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

// run runs go test with args and returns an error unless everything passed.
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
		// go test must not wait for a reader that has gone.
		_, _ = io.Copy(io.Discard, events)
	}
	return errors.Join(readErr, cmd.Wait(), t.verdict(strict))
}
