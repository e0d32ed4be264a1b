package usage

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/settings"
)

// Man is the hidden command that prints the manual page, for packages.
type Man struct{}

// Run prints the page mailhelm(1) in roff.
func (*Man) Run(p *cli.Program) error {
	_, err := io.WriteString(p.Stdout, manPage(p.Parsed.Model.Node, cli.Build().Version))
	return err
}

// manPage returns the manual page of the program with the definition root, in roff with the
// macros man(7).
func manPage(root *kong.Node, version string) string {
	var page strings.Builder
	fmt.Fprintf(&page, ".TH MAILHELM 1 \"\" \"mailhelm %s\" \"User Commands\"\n", roff(version))
	page.WriteString(".SH NAME\nmailhelm \\- control plane for email on top of your own sending account\n")
	page.WriteString(".SH SYNOPSIS\n.B mailhelm\n.I command\n[\\fIarguments\\fR] [\\fIflags\\fR]\n")
	page.WriteString(".SH DESCRIPTION\n")
	writeText(&page, root.Help)
	page.WriteString(".SH COMMANDS\n")
	for _, leaf := range root.Leaves(true) {
		writeCommand(&page, leaf)
	}
	page.WriteString(".SH EXIT STATUS\n.TP\n0\nThe command succeeded.\n.TP\n1\nThe command failed.\n.TP\n2\nThe command line, an environment variable or the configuration file is invalid.\n")
	return page.String()
}

// writeCommand writes the synopsis, the help, the arguments and the flags of a command.
func writeCommand(page *strings.Builder, command *kong.Node) {
	fmt.Fprintf(page, ".SS %s\n", roff(command.FullPath()))
	for _, text := range []string{command.Help, command.Detail} {
		writeText(page, text)
	}
	for _, argument := range command.Positional {
		fmt.Fprintf(page, ".TP\n.I %s\n%s\n", roff("<"+argument.Name+">"), roff(argument.Help))
	}
	for _, flag := range command.Flags {
		if flag.Hidden {
			continue
		}
		fmt.Fprintf(page, ".TP\n.B %s\n%s\n", roff(flagForm(flag)), roff(flagText(flag)))
	}
}

// flagForm returns a flag with the form of its value, such as --data=DIR.
func flagForm(flag *kong.Flag) string {
	if flag.IsBool() {
		return "--" + flag.Name
	}
	return "--" + flag.Name + "=" + flag.FormatPlaceHolder()
}

// flagText returns the help of a flag, with the environment variable that sets it.
func flagText(flag *kong.Flag) string {
	if !settings.Configurable(flag) {
		return flag.Help
	}
	return flag.Help + " Environment: " + settings.Environment(flag.Name) + "."
}

// writeText writes a help text. Lines with an indent are examples and keep their breaks.
func writeText(page *strings.Builder, text string) {
	if text == "" {
		return
	}
	example := false
	for line := range strings.SplitSeq(text, "\n") {
		indented := strings.HasPrefix(line, "    ")
		if indented != example && strings.TrimSpace(line) != "" {
			page.WriteString(map[bool]string{true: ".RS\n.nf\n", false: ".fi\n.RE\n"}[indented])
			example = indented
		}
		if line = strings.TrimSpace(line); line == "" {
			line = ".PP"
		} else {
			line = roff(line)
		}
		page.WriteString(line + "\n")
	}
	if example {
		page.WriteString(".fi\n.RE\n")
	}
}

// roff escapes a text for roff: backslashes, dashes, and a dot or quote at the beginning of
// a line, which would begin a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		return `\&` + text
	}
	return text
}
