package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
)

// guides is the folder of the guides whose commands tests run.
const guides = "../../rest/docs/guides"

// guide runs the commands of a guide in their order, as a person pastes them. Commands of
// Mailhelm run in the process of the test, all others in sh.
type guide struct {
	t    *testing.T
	text string
	// folder is the current folder of the person. files has the folder of a file that is the value
	// of an option and has a relative path.
	folder string
	files  map[string]string
	// replace replaces paths and addresses of the guide by those of the test.
	replace *strings.Replacer
	// where are flags that commands of Mailhelm get in addition.
	where []string
	// path is PATH for other commands, and environment has further variables for them.
	path        string
	environment []string
	// handle runs a command that needs the system, such as systemd, in place of the shell. It
	// returns false for other commands.
	handle func(line string) bool

	// commands are the next ones, and left is the number of those of the whole guide that the test
	// has neither run nor left out.
	commands []string
	left     int
}

// openGuide reads a guide. Its commands are those of the whole text, until section selects some.
func openGuide(t *testing.T, name string) *guide {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(guides, name))
	if err != nil {
		t.Fatal(err)
	}
	g := &guide{t: t, text: string(text), folder: t.TempDir(), replace: strings.NewReplacer(), path: os.Getenv("PATH")}
	g.commands = commandsOf(g.text)
	g.left = len(g.commands)
	return g
}

// commandsOf returns the commands of a Markdown text. A command may have several lines, each with
// a backslash at its end.
func commandsOf(markdown string) []string {
	var all []string
	for _, block := range blocks(markdown, "sh") {
		for line := range strings.Lines(strings.ReplaceAll(block, "\\\n", "")) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				all = append(all, line)
			}
		}
	}
	return all
}

// section selects the commands below a heading. Those of the section before must have been run.
func (g *guide) section(heading string) {
	g.t.Helper()
	if len(g.commands) != 0 && len(g.commands) != len(commandsOf(g.text)) {
		g.t.Fatalf("the test does not run the commands %q", g.commands)
	}
	_, text, found := strings.Cut(g.text, "\n## "+heading+"\n")
	if !found {
		g.t.Fatalf("the guide has no section %q", heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	g.commands = commandsOf("\n" + text)
}

// end checks that all commands of the guide have been run.
func (g *guide) end() {
	g.t.Helper()
	if g.left != 0 || len(g.commands) != 0 {
		g.t.Fatalf("the test does not run %d commands of the guide, the next are %q", g.left, g.commands)
	}
}

// skip leaves out the next commands, which are for something else than this test.
func (g *guide) skip(number int) {
	g.commands = g.commands[number:]
	g.left -= number
}

// run runs the next command, which must succeed and print a text. It returns what the command
// printed.
func (g *guide) run(prints string) string {
	g.t.Helper()
	if len(g.commands) == 0 {
		g.t.Fatal("the guide has no further command")
	}
	command := g.commands[0]
	g.skip(1)
	return g.execute(command, prints)
}

// execute runs a command of the guide, which must succeed and print a text.
func (g *guide) execute(command, prints string) string {
	g.t.Helper()
	line := g.replace.Replace(command)
	plain := strings.TrimPrefix(strings.TrimPrefix(line, "sudo -u mailhelm "), "sudo ")
	if g.handle != nil && g.handle(plain) {
		return ""
	}
	var printed string
	var err error
	if args, found := strings.CutPrefix(plain, "mailhelm "); found {
		printed, err = g.mailhelm(wordsOf(args))
	} else {
		printed, err = g.shell(line)
	}
	if err != nil || !strings.Contains(printed, prints) {
		g.t.Fatalf("%s: %v, want %q\n%s", command, err, prints, printed)
	}
	return printed
}

// refuse runs the next command, which must fail and print a text.
func (g *guide) refuse(prints string) {
	g.t.Helper()
	command := g.commands[0]
	g.skip(1)
	args, _ := strings.CutPrefix(g.replace.Replace(command), "sudo -u mailhelm mailhelm ")
	if printed, err := g.mailhelm(wordsOf(args)); err == nil || !strings.Contains(printed, prints) {
		g.t.Fatalf("%s: %v, want a refusal with %q\n%s", command, err, prints, printed)
	}
}

// wordsOf returns the words of a command. Words in double quotes may have spaces.
func wordsOf(line string) []string {
	var words []string
	for _, word := range regexp.MustCompile(`"[^"]*"|\S+`).FindAllString(line, -1) {
		words = append(words, strings.Trim(word, `"`))
	}
	return words
}

// mailhelm runs a command of Mailhelm in this process.
func (g *guide) mailhelm(args []string) (string, error) {
	g.t.Helper()
	for i := range args[:len(args)-1] {
		if folder := g.files[args[i]]; folder != "" && !filepath.IsAbs(args[i+1]) {
			args[i+1] = filepath.Join(folder, args[i+1])
		}
	}
	r := runWith(g.t, nil, append(args, g.where...)...)
	if r.status != cli.ExitOK {
		return r.stdout + r.stderr, errStatus
	}
	return r.stdout + r.stderr, nil
}

// asPerson lets the test run commands that need root or the user mailhelm. The test runs them as
// its own user.
const asPerson = `sudo() { if [ "$1" = -u ]; then shift 2; fi; "$@"; }
install() { for arg; do shift; case $arg in -o|-g) skip=1;; *) if [ "$skip" ]; then skip=; else set -- "$@" "$arg"; fi;; esac; done; command install "$@"; }
`

// shell runs a command in sh. It may be called after the end of the test.
func (g *guide) shell(line string) (string, error) {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(g.t.Context()), startTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-euc", asPerson+"skip=\n"+line)
	cmd.Dir, cmd.Env = g.folder, append(append(withoutSettings(os.Environ()), g.environment...), "PATH="+g.path)
	printed, err := cmd.CombinedOutput()
	return string(printed), err
}

// read returns the content of a file in the current folder of the person.
func (g *guide) read(name string) string {
	g.t.Helper()
	content, err := os.ReadFile(filepath.Join(g.folder, name))
	if err != nil {
		g.t.Fatal(err)
	}
	return string(content)
}

// write writes a file in the current folder of the person.
func (g *guide) write(name, content string) {
	g.t.Helper()
	if err := os.WriteFile(filepath.Join(g.folder, name), []byte(content), 0o600); err != nil {
		g.t.Fatal(err)
	}
}

// blocks returns the contents of the fenced code blocks of a language in Markdown. Blocks may be
// indented, in a list.
func blocks(markdown, language string) []string {
	var found []string
	for _, m := range regexp.MustCompile("(?s)\n *```"+language+"\n(.*?)```\n").FindAllStringSubmatch(markdown, -1) {
		found = append(found, m[1])
	}
	return found
}
