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

// parser returns the parser of the grammar. It resolves flags that are not on the
// command line through p.Sources. After printing help, the parser calls exit instead of
// ending the process. An error means that the grammar itself is invalid.
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
			{Key: "public", Title: "Public addresses (sent to clients; access tokens are bound to them):"},
			{Key: "listen", Title: "Listening (on the loopback by default):"},
		}),
	)
}

// parse reads the command line into p.Parsed. It reports true when it has printed the
// help for --help; other mistakes on the line are then ignored. An invalid line,
// variable or file returns a usageError, which names the selected command as far as it
// was recognized. Call it once for each Program.
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
	return false, &usageError{command: command, err: err}
}

// valueHelp appends the environment variable to the help of a flag that has one. Kong
// calls it for each flag and argument.
func valueHelp(v *kong.Value) string {
	if v.Flag == nil || !settings.Configurable(v.Flag) {
		return v.Help
	}
	return strings.TrimSuffix(v.Help, ".") + " ($" + settings.Environment(v.Flag.Name) + ")."
}
