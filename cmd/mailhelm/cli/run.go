package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/alecthomas/kong"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/settings"
)

// The exit statuses of the program. Scripts rely on their values.
const (
	ExitOK      = 0
	ExitFailure = 1 // the command failed
	ExitUsage   = 2 // the command line, an environment variable or the configuration file is invalid
	ExitChanges = 2 // a comparison found changes; those commands say so in their help
	ExitNothing = 3 // the command waited for something that did not come in time
)

// ErrReported is returned by a command whose output already describes the failure. Run then
// exits with [ExitFailure] and prints nothing more.
var ErrReported = errors.New("reported")

// ErrChanges is returned by a command that compares, after it has printed what differs. Run then
// exits with [ExitChanges] and prints nothing more.
var ErrChanges = errors.New("changes found")

// ErrNothing is returned by a command that waited for something that did not come in time. Run
// then exits with [ExitNothing] and prints nothing more.
var ErrNothing = errors.New("nothing came in time")

// Program holds what a command needs: input and output, the command line and the settings.
type Program struct {
	Ctx     context.Context //nolint:containedctx // as long as the process
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Sources *settings.Sources
	// Parsed is the parsed command line, including the selected command.
	Parsed *kong.Context
	// BusyWait is how long a query waits for a busy database before it fails.
	BusyWait time.Duration
	// lookup returns an environment variable, as os.LookupEnv does.
	lookup func(string) (string, bool)
	// flushes are called when the command ends. They log the counts of repeated warnings.
	flushes []func()
}

// Surroundings holds the inputs and outputs of the program, except for its arguments. Tests
// pass buffers and their own environment variables.
type Surroundings struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Lookup returns an environment variable, as os.LookupEnv does.
	Lookup func(string) (string, bool)
	// BusyWait is how long a query waits for a busy database before it fails.
	BusyWait time.Duration
}

// Run parses args, runs the selected command and returns the exit status. grammar points to
// a struct whose fields are the commands. Without arguments Run prints the help.
func Run(ctx context.Context, grammar any, args []string, around Surroundings) int {
	p := &Program{
		Ctx: ctx, Stdin: around.Stdin, Stdout: around.Stdout, Stderr: around.Stderr,
		Sources: settings.NewSources(around.Lookup), BusyWait: around.BusyWait, lookup: around.Lookup,
	}
	err := p.execute(grammar, args)
	for _, flush := range p.flushes {
		flush()
	}
	usage := (*usageError)(nil)
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &usage):
		fmt.Fprintf(p.Stderr, "mailhelm: %v%s\nRun '%s --help' to see its flags and arguments.\n", err, p.Sources.Origins(err.Error()), usage.command)
		return ExitUsage
	case errors.Is(err, ErrReported):
		return ExitFailure
	case errors.Is(err, ErrChanges):
		return ExitChanges
	case errors.Is(err, ErrNothing):
		return ExitNothing
	default:
		fmt.Fprintf(p.Stderr, "mailhelm: %v%s\n", err, p.Sources.Origins(err.Error()))
		return ExitFailure
	}
}

// execute parses args and runs the selected command. If args is empty or contains --help,
// it prints the help and returns nil. "--version" is the command version, and "help
// COMMAND" is COMMAND --help.
func (p *Program) execute(grammar any, args []string) error {
	if len(args) == 0 {
		args = []string{"--help"}
	}
	switch args[0] {
	case "--version":
		args = append([]string{"version"}, args[1:]...)
	case "help":
		if err := p.checkCommand(grammar, args[1:]); err != nil {
			return err
		}
		args = append(slices.Clone(args[1:]), "--help")
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

// Error returns the text of the underlying error, without the command.
func (e *usageError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *usageError) Unwrap() error { return e.err }
