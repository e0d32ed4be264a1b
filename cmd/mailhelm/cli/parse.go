package cli

import (
	"errors"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/settings"
)

// description is the text at the top of `mailhelm --help`.
const description = `Mailhelm is a control plane on top of your own email-sending account: agents drive it over MCP, programs over REST.

Every setting can be a flag (--base-url), a variable (MAILHELM_BASE_URL) or a line of the configuration file (base-url = "..."); the first of these wins.`

// parser returns a command line parser for grammar, a pointer to a struct of commands.
// Flags missing on the command line get their values from the environment or the
// configuration file. After printing help, the parser calls exit instead of ending the
// process. It returns an error if grammar is invalid.
func (p *Program) parser(grammar any, exit func(int)) (*kong.Kong, error) {
	return kong.New(grammar,
		kong.Name("mailhelm"),
		kong.Description(description),
		kong.Writers(p.Stdout, p.Stderr),
		kong.Exit(exit),
		kong.Resolvers(p.Sources),
		kong.ValueFormatter(valueHelp),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 100}),
		kong.ExplicitGroups([]kong.Group{
			{Key: "storage", Title: "Storage:"},
			{Key: "process", Title: "Process:"},
			{Key: "clients", Title: "OAuth clients:"},
			{Key: "mail", Title: "Mail to people:"},
			{Key: "receiving", Title: "Receiving mail:"},
			{Key: "git", Title: "Git repositories:"},
			{Key: "public", Title: "Public addresses (sent to clients; access tokens are bound to them):"},
			{Key: "listen", Title: "Listening (on the loopback by default):"},
		}),
	)
}

// parse parses the command line into p.Parsed. It returns true if it printed the help for
// --help; it then ignores mistakes in args. For an invalid flag, environment variable or
// file it returns a usageError, which names the selected command if one was recognized.
// Call it once for each Program.
func (p *Program) parse(grammar any, args []string) (bool, error) {
	helped := false
	parser, err := p.parser(grammar, func(int) { helped = true })
	if err != nil {
		return false, err
	}
	p.Parsed, err = parser.Parse(args)
	if helped {
		return true, nil
	}
	if err == nil {
		err = p.Sources.Check(p.Parsed)
	}
	if err == nil {
		return false, nil
	}
	command := "mailhelm"
	if parse, ok := errors.AsType[*kong.ParseError](err); ok && parse.Context.Selected() != nil {
		command = parse.Context.Selected().FullPath()
	}
	if broken := p.Sources.Failed(); broken != nil {
		err = broken
	}
	return false, &usageError{command: command, err: err}
}

// valueHelp returns the help of a flag or argument. It appends the name of the environment
// variable that sets the flag, if there is one.
func valueHelp(v *kong.Value) string {
	if v.Flag == nil || !settings.Configurable(v.Flag) {
		return v.Help
	}
	return strings.TrimSuffix(v.Help, ".") + " ($" + settings.Environment(v.Flag.Name) + ")."
}
