// Command mailhelm is the whole product in one program. `mailhelm demo` starts it with
// invented data, `mailhelm serve` runs it, and the other commands are for its operator.
//
// This package lists the commands; the packages in its folders implement them. Package cli
// is shared by all commands. Package serve starts the server.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/admin/person"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/bundle"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/demo"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/dmarcreports"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/doctor"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/documenting"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/importing"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/inbox"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/migrate"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/orgs"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/ready"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/usage"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/workflowfiles"
)

// commands defines the command line: each field is a flag or a command, and its tags
// contain the help.
type commands struct {
	Config string `help:"Configuration file in TOML. Its keys are the flags without the dashes: base-url = \"https://api.example.com\"." placeholder:"FILE"`
	// ShowVersion is handled before parsing; see cli.VersionFlag.
	ShowVersion cli.VersionFlag `name:"version" help:"Print the version; with --json as one JSON object." once:""`

	Demo         demo.Command                 `cmd:"" help:"Try everything with invented data on this machine."`
	Serve        serve.Command                `cmd:"" help:"Run the service."`
	Admin        administration               `cmd:"" help:"Manage organizations, people, API keys, OAuth clients and sending accounts."`
	Org          orgs.Commands                `cmd:"" help:"Move an organization to another installation."`
	Ingest       importing.Events             `cmd:"" help:"Import events about sent mail from a file."`
	Import       importing.Command            `cmd:"" help:"Import contacts from a file."`
	Bundle       bundle.Command               `cmd:"" help:"Keep the definitions of an organization in a folder: check, plan, apply and export them."`
	Inbox        inbox.Command                `cmd:"" help:"Create temporary inboxes and wait for their mail, in test scripts."`
	DMARC        dmarcreports.Command         `cmd:"" name:"dmarc" help:"Read DMARC reports in files, and DMARC records in DNS."`
	Token        connecting.Token             `cmd:"" help:"Get access tokens for a program without a person, and keep them fresh."`
	MCP          connecting.MCP               `cmd:"" name:"mcp" help:"Connect an assistant on standard input and output to the agent endpoint."`
	Fmt          workflowfiles.Format         `cmd:"" help:"Write workflow files in their canonical form."`
	Check        workflowfiles.Check          `cmd:"" help:"Check workflow files, and print all faults at once."`
	Explain      workflowfiles.Explain        `cmd:"" help:"Say in English what a workflow file does, or draw it."`
	Editor       workflowfiles.LanguageServer `cmd:"" name:"language-server" help:"Serve editors on standard input and output, for workflow files."`
	Docs         documenting.Command          `cmd:"" help:"Write the documentation as static files."`
	Migrate      migrate.Command              `cmd:"" help:"Show the version of the database schema, or update it."`
	RestoreCheck person.RestoreCheck          `cmd:"" name:"restore-check" help:"Erase persons again after an older copy of the database was restored."`
	Doctor       doctor.Command               `cmd:"" help:"Check a configuration and explain how to fix problems."`
	Ready        ready.Command                `cmd:"" help:"Ask a running server whether it is ready for calls."`
	ShowConfig   serve.ShowSettings           `cmd:"" name:"config" help:"Show the resulting configuration and the source of each value."`
	Completion   usage.Completion             `cmd:"" help:"Print the completion script of a shell."`
	Version      cli.Version                  `cmd:"" help:"Print the version of this program."`
	HelpText     cli.HelpCommand              `cmd:"" name:"help" help:"Show the help of a command."`
	Complete     usage.Complete               `cmd:"" hidden:"" help:"Print the words that complete a command line."`
	Man          usage.Man                    `cmd:"" hidden:"" help:"Print the manual page."`
}

// busyWait is how long a command waits for a busy database. It is longer than a server's
// wait, because clients of a server retry calls and users do not retry commands.
const busyWait = time.Minute

// main runs the command in os.Args and exits with the status that [cli.Run] returns.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal ends ctx, which requests an orderly stop. stop then restores the
	// default handling of signals, so a second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], cli.Surroundings{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Lookup: os.LookupEnv, BusyWait: busyWait,
	}))
}

// run parses args, runs the selected command and returns the exit status. Tests call it in
// place of main, with their own inputs and outputs.
func run(ctx context.Context, args []string, around cli.Surroundings) int {
	return cli.Run(ctx, &commands{}, args, around)
}
