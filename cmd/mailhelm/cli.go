package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/settings"
)

// commands is the grammar of the command line. The tags are its help.
type commands struct {
	Config string `help:"Configuration file in TOML. Its keys are the flags without dashes in front: base-url = \"https://api.example.com\"." placeholder:"FILE"`

	Demo       demoCommand    `cmd:"" help:"Try everything at once, with invented data, on this machine."`
	Serve      serveCommand   `cmd:"" help:"Run the service."`
	Admin      adminCommand   `cmd:"" help:"Organizations, people, API keys, OAuth clients and the audit log, from the shell."`
	Ingest     ingestCommand  `cmd:"" help:"Take in events about sent mail from a file."`
	Import     importCommand  `cmd:"" help:"Take in contacts from a file."`
	Migrate    migrateCommand `cmd:"" help:"Look at the database's schema, or bring it up to date."`
	Doctor     doctorCommand  `cmd:"" help:"Check a configuration and say what to do about what is wrong."`
	ShowConfig configCommand  `cmd:"" name:"config" help:"Show the resulting configuration and where each value comes from."`
	Version    versionCommand `cmd:"" help:"Say which program this is."`
}

const description = `Mailhelm is a control plane on top of your own email-sending account: agents drive it over MCP, programs over REST.

Every setting can be a flag (--base-url), a variable (MAILHELM_BASE_URL) or a line of the configuration file (base-url = "..."); the first of these wins.`

// program is what the commands work with.
type program struct {
	ctx     context.Context //nolint:containedctx // as long as the process
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	sources *settings.Sources
	parsed  *kong.Context
	wait    time.Duration // for a busy database
}

func (p *program) execute(args []string, lookup func(string) (string, bool)) error {
	if len(args) == 0 {
		args = []string{"--help"}
	}
	p.sources = settings.NewSources(lookup)
	helped, err := p.parse(args)
	if helped || err != nil {
		return err
	}
	return p.parsed.Run(p)
}

func (p *program) parser(exit func(int)) (*kong.Kong, error) {
	return kong.New(&commands{},
		kong.Name("mailhelm"),
		kong.Description(description),
		kong.Writers(p.stdout, p.stderr),
		kong.Exit(exit),
		kong.Resolvers(p.sources),
		kong.ValueFormatter(valueHelp),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 100}),
		kong.ExplicitGroups([]kong.Group{
			{Key: "storage", Title: "Storage:"},
			{Key: "process", Title: "Process:"},
			{Key: "clients", Title: "OAuth clients:"},
			{Key: "mail", Title: "Mail to people:"},
			{Key: "public", Title: "Public addresses (what clients are told and tokens are bound to):"},
			{Key: "listen", Title: "Listening (the loopback unless you say otherwise):"},
		}),
	)
}

// parse reads the command line. helped is true when --help has printed what was
// asked for; what else the line holds or lacks does not matter then.
func (p *program) parse(args []string) (helped bool, err error) {
	parser, err := p.parser(func(int) { helped = true })
	if err != nil {
		return false, err
	}
	p.parsed, err = parser.Parse(args)
	if helped {
		return true, nil
	}
	if err == nil {
		err = p.sources.Check(p.parsed)
	}
	if err == nil {
		return false, nil
	}
	command := "mailhelm"
	if parse, ok := errors.AsType[*kong.ParseError](err); ok && parse.Context.Selected() != nil {
		command = parse.Context.Selected().FullPath()
	}
	return false, &usageError{command: command, err: err}
}

// valueHelp adds the variable to the help of a flag that has one.
func valueHelp(v *kong.Value) string {
	if v.Flag == nil || !settings.Configurable(v.Flag) {
		return v.Help
	}
	return strings.TrimSuffix(v.Help, ".") + " ($" + settings.Environment(v.Flag.Name) + ")."
}
