package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/alecthomas/kong"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/settings"
)

// The exit statuses. Scripts rely on their values.
const (
	ExitOK      = 0
	ExitFailure = 1 // the command failed
	ExitUsage   = 2 // the command line, an environment variable or the configuration file is invalid
)

// ErrReported ends a command with [ExitFailure] if its output already describes the
// failure. Run prints nothing for it.
var ErrReported = errors.New("reported")

// Program is the running program, as commands use it.
type Program struct {
	Ctx     context.Context //nolint:containedctx // as long as the process
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Sources *settings.Sources
	// Parsed is the parsed command line with the selected command.
	Parsed *kong.Context
	// BusyWait is how long the command waits for a busy database.
	BusyWait time.Duration
}

// Surroundings are the inputs and outputs of the program, except for its arguments.
// Tests pass buffers and their own variables.
type Surroundings struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Lookup returns an environment variable, as os.LookupEnv does.
	Lookup func(string) (string, bool)
	// BusyWait is how long a command waits for a busy database.
	BusyWait time.Duration
}

// Run parses args by the grammar, a pointer to a struct of commands, runs the selected
// command and returns the exit status. Without arguments it prints the help.
func Run(ctx context.Context, grammar any, args []string, around Surroundings) int {
	p := &Program{
		Ctx: ctx, Stdin: around.Stdin, Stdout: around.Stdout, Stderr: around.Stderr,
		Sources: settings.NewSources(around.Lookup), BusyWait: around.BusyWait,
	}
	err := p.execute(grammar, args)
	usage := (*usageError)(nil)
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &usage):
		fmt.Fprintf(p.Stderr, "mailhelm: %v\nRun '%s --help' to see its flags and arguments.\n", err, usage.command)
		return ExitUsage
	case errors.Is(err, ErrReported):
		return ExitFailure
	default:
		fmt.Fprintf(p.Stderr, "mailhelm: %v\n", err)
		return ExitFailure
	}
}

// execute parses the line and runs the selected command. It returns nil after printing
// help. Without arguments it prints the help.
func (p *Program) execute(grammar any, args []string) error {
	if len(args) == 0 {
		args = []string{"--help"}
	}
	helped, err := p.parse(grammar, args)
	if helped || err != nil {
		return err
	}
	return p.Parsed.Run(p)
}

// usageError reports an invalid command line, environment variable or configuration
// file.
type usageError struct {
	// command is the path of the selected command, such as "mailhelm admin org". Run
	// names it in the hint about --help.
	command string
	err     error
}

// Error returns the text of the cause alone.
func (e *usageError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *usageError) Unwrap() error { return e.err }
