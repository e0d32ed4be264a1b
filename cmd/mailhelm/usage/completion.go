package usage

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
)

// The completion scripts. Each calls the hidden command "mailhelm complete", so the scripts
// stay valid when flags change.
var (
	//go:embed completion.bash
	bashScript string
	//go:embed completion.zsh
	zshScript string
	//go:embed completion.fish
	fishScript string
)

// Completion is `mailhelm completion`, which prints the completion script of a shell.
type Completion struct {
	Shell string `arg:"" help:"bash, zsh or fish." enum:"bash,zsh,fish"`
}

// Help returns the text that --help shows below the summary.
func (Completion) Help() string {
	return `The Debian package installs the scripts. Elsewhere, load the script when a shell starts.

Examples:

    echo 'source <(mailhelm completion bash)' >> ~/.bashrc
    mailhelm completion zsh > "${fpath[1]}/_mailhelm"
    mailhelm completion fish > ~/.config/fish/completions/mailhelm.fish`
}

// Run prints the script.
func (c *Completion) Run(p *cli.Program) error {
	script := map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[c.Shell]
	_, err := io.WriteString(p.Stdout, script)
	return err
}

// Complete is the hidden command that the completion scripts call.
type Complete struct {
	Words []string `arg:"" optional:"" passthrough:"" help:"The words of the command line after mailhelm; the last one is completed."`
}

// Run prints the words that can complete the last word, one a line, with a tab and a
// description after each. It prints nothing where a file name or a free text belongs.
func (c *Complete) Run(p *cli.Program) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	for _, candidate := range candidates(p.Parsed.Model.Node, words) {
		if _, err := fmt.Fprintf(p.Stdout, "%s\t%s\n", candidate.word, candidate.help); err != nil {
			return err
		}
	}
	return nil
}

// candidate is a word that can complete a command line, with its description.
type candidate struct{ word, help string }

// candidates returns the words that can complete the last of words. root is the definition
// of the program. Words that begin with a dash are flags; after a flag with a value come the
// values of its enumeration.
func candidates(root *kong.Node, words []string) []candidate {
	if len(words) == 0 {
		words = []string{""}
	}
	before, last := words[:len(words)-1], words[len(words)-1]
	node, open := descend(root, before)
	if open != nil {
		return enumCandidates(open.Value, "", last)
	}
	if name, value, ok := strings.Cut(last, "="); ok && strings.HasPrefix(name, "--") {
		if flag := flagNamed(node, name); flag != nil {
			return enumCandidates(flag.Value, name+"=", value)
		}
		return nil
	}
	var found []candidate
	if strings.HasPrefix(last, "-") {
		for _, flag := range visibleFlags(node) {
			found = append(found, candidate{"--" + flag.Name, firstSentence(flag.Help)})
		}
		return withPrefix(found, last)
	}
	for _, child := range node.Children {
		if !child.Hidden {
			found = append(found, candidate{child.Name, firstSentence(child.Help)})
		}
	}
	for _, argument := range node.Positional {
		found = append(found, enumCandidates(argument, "", last)...)
	}
	return withPrefix(found, last)
}

// descend follows the words from root and returns the command that they select. If the last
// of the words is a flag that lacks its value, descend also returns that flag.
func descend(root *kong.Node, words []string) (*kong.Node, *kong.Flag) {
	node := root
	for i, word := range words {
		if strings.HasPrefix(word, "--") && !strings.Contains(word, "=") {
			flag := flagNamed(node, word)
			if flag != nil && !flag.IsBool() && i == len(words)-1 {
				return node, flag
			}
			continue
		}
		at := slices.IndexFunc(node.Children, func(child *kong.Node) bool { return child.Name == word })
		if at >= 0 {
			node = node.Children[at]
		}
	}
	return node, nil
}

// flagNamed returns the flag of a command with this name, such as --data, or nil.
func flagNamed(node *kong.Node, name string) *kong.Flag {
	for _, flag := range visibleFlags(node) {
		if "--"+flag.Name == name {
			return flag
		}
	}
	return nil
}

// visibleFlags returns the flags that a command accepts, also those of the commands above
// it, without hidden ones.
func visibleFlags(node *kong.Node) []*kong.Flag {
	var flags []*kong.Flag
	for _, group := range node.AllFlags(true) {
		flags = append(flags, group...)
	}
	return flags
}

// enumCandidates returns the values of an enumeration that begin with start, each after the
// text before. It returns nil for a value without an enumeration.
func enumCandidates(value *kong.Value, before, start string) []candidate {
	var found []candidate
	for word := range strings.SplitSeq(value.Enum, ",") {
		if word = strings.TrimSpace(word); word != "" && strings.HasPrefix(word, start) {
			found = append(found, candidate{before + word, ""})
		}
	}
	return found
}

// withPrefix returns the candidates that begin with start.
func withPrefix(all []candidate, start string) []candidate {
	return slices.DeleteFunc(all, func(c candidate) bool { return !strings.HasPrefix(c.word, start) })
}

// firstSentence returns a text up to its first full stop, without the full stop and without
// tabs and line breaks.
func firstSentence(text string) string {
	first, _, _ := strings.Cut(strings.Join(strings.Fields(text), " "), ". ")
	return strings.TrimSuffix(first, ".")
}
