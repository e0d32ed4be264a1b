// Command mailhelm is the whole product in one program: `mailhelm demo` to try
// it, `mailhelm serve` to run it, and what an operator needs beside that.
//
// This package is the command line. What runs is put together in package host,
// what can be set is in package settings.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// The exit statuses.
const (
	exitOK      = 0
	exitFailure = 1 // what was asked for did not work
	exitUsage   = 2 // what was asked for makes no sense
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks for an orderly end. From then on signals have their
	// ordinary effect again, so a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, os.LookupEnv))
}

// run is the program as a function of everything outside it that it depends on.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, lookup func(string) (string, bool)) int {
	p := &program{ctx: ctx, stdin: os.Stdin, stdout: stdout, stderr: stderr, wait: commandWait}
	err := p.execute(args, lookup)
	usage := (*usageError)(nil)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "mailhelm: %v\nRun '%s --help' for what there is.\n", err, usage.command)
		return exitUsage
	case errors.Is(err, errReported):
		return exitFailure
	default:
		fmt.Fprintf(stderr, "mailhelm: %v\n", err)
		return exitFailure
	}
}

// errReported ends a command whose output says what is wrong already.
var errReported = errors.New("reported")

// usageError is a command line, environment or file that cannot be read.
type usageError struct {
	command string
	err     error
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }
