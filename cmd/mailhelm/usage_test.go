package main

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// completed returns the words that `mailhelm complete` prints for a command line.
func completed(t *testing.T, words ...string) []string {
	t.Helper()
	r := runWith(t, nil, append([]string{"complete", "--"}, words...)...)
	if r.status != cli.ExitOK || r.stderr != "" {
		t.Fatalf("%q: status %d: %s", words, r.status, r.stderr)
	}
	var found []string
	for line := range strings.Lines(r.stdout) {
		word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		found = append(found, word)
	}
	return found
}

func TestComplete(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ line, want string }{
		{"ser", "serve"},
		{"admin us", "user"},
		{"admin user set-p", "set-permissions set-password"},
		{"serve --mcp", "--mcp-url --mcp-addr"},
		{"serve --role ", "all api worker"},
		{"serve --role=w", "--role=worker"},
		{"--config /etc/x.toml serve --role a", "all api"},
		{"completion ", "bash zsh fish"},
		{"serve --data ", ""},
		{"serve --nothing", ""},
		{"comp", "completion"}, // complete itself is hidden
		{"serve --master", "--master-key-file"},
	} {
		words := strings.Split(tc.line, " ")
		if got := strings.Join(completed(t, words...), " "); got != tc.want {
			t.Errorf("%q: got %q, want %q", tc.line, got, tc.want)
		}
	}
	if got := completed(t, ""); !slices.Contains(got, "demo") || slices.Contains(got, "complete") || slices.Contains(got, "man") {
		t.Errorf("commands: %v", got)
	}
}

// TestBashCompletes loads the printed script in bash and completes command lines.
func TestBashCompletes(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		enginetest.SkipMissing(t, "bash is not on this machine: its completion is not checked")
	}
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	script := runWith(t, nil, "completion", "bash").stdout
	for _, tc := range []struct{ words, at, want string }{
		{"ser", "1", "serve"},
		{"serve --rol", "2", "--role"},
		{"serve --role w", "3", "worker"},
		{"serve --role = w", "4", "worker"},
	} {
		// bash gives --role=worker as three words and replaces only the last.
		cmd := exec.Command(bash, "--norc", "-c", script+`
			mailhelm=$1; at=$2; shift 2
			COMP_WORDS=("$mailhelm" "$@"); COMP_CWORD=$at
			_mailhelm && echo "${COMPREPLY[@]}"`, "bash", path, tc.at)
		cmd.Args = append(cmd.Args, strings.Fields(tc.words)...)
		output, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(output)); err != nil || got != tc.want {
			t.Errorf("%s: got %q, %v, want %q", tc.words, got, err, tc.want)
		}
	}
}

// TestManPage checks that the manual page has every command and every flag that the help
// shows, and that groff formats it without a warning if it is installed.
func TestManPage(t *testing.T) {
	t.Parallel()
	page := runWith(t, nil, "man").stdout
	plain := strings.ReplaceAll(page, `\-`, "-")
	for _, want := range []string{".TH MAILHELM 1", ".SH NAME", ".SH EXIT STATUS", ".SS mailhelm admin user invite", "\n.B --redis-url=URL\n", "MAILHELM_REDIS_URL"} {
		if !strings.Contains(plain, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	help := runWith(t, nil, "serve", "--help").stdout
	for _, flag := range regexp.MustCompile(`(?m)^ +(--[a-z-]+)`).FindAllStringSubmatch(help, -1) {
		if !strings.Contains(plain, flag[1]) {
			t.Errorf("the page lacks %s", flag[1])
		}
	}
	if strings.Contains(strings.ReplaceAll(plain, "--master-key-file", ""), "--master-key") {
		t.Error("the page offers the master key as a flag")
	}
	t.Run("groff", func(t *testing.T) {
		t.Parallel()
		groff, err := exec.LookPath("groff")
		if err != nil {
			enginetest.SkipMissing(t, "groff is not on this machine: it does not check the manual page")
		}
		cmd := exec.Command(groff, "-man", "-ww", "-z", "-Tutf8", "-K", "utf8")
		cmd.Stdin = strings.NewReader(page)
		if output, err := cmd.CombinedOutput(); err != nil || len(output) > 0 {
			t.Errorf("groff: %v\n%.2000s", err, output)
		}
	})
}

func TestVersionFlag(t *testing.T) {
	t.Parallel()
	if got, want := runWith(t, nil, "--version"), runWith(t, nil, "version"); got != want || !strings.HasPrefix(got.stdout, "mailhelm ") {
		t.Errorf("got %+v, want %+v", got, want)
	}
	var v map[string]string
	r := runWith(t, nil, "--version", "--json")
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil || v["version"] == "" || v["commit"] == "" || v["go"] == "" || v["platform"] == "" {
		t.Errorf("%v: %s%s", err, r.stdout, r.stderr)
	}
	if !strings.Contains(runWith(t, nil, "--help").stdout, "--version") {
		t.Error("the help does not list --version")
	}
}

func TestHelpCommand(t *testing.T) {
	t.Parallel()
	for _, words := range [][]string{nil, {"serve"}, {"admin", "user", "invite"}} {
		got, want := runWith(t, nil, append([]string{"help"}, words...)...), runWith(t, nil, append(slices.Clone(words), "--help")...)
		if got != want || got.status != cli.ExitOK || got.stdout == "" {
			t.Errorf("help %v: got %+v, want %+v", words, got, want)
		}
	}
	for _, words := range [][]string{{"srve"}, {"admin", "users"}} {
		if r := runWith(t, nil, append([]string{"help"}, words...)...); r.status != cli.ExitUsage || !strings.Contains(r.stderr, words[len(words)-1]) {
			t.Errorf("help %v: %+v", words, r)
		}
	}
}

// TestHelpGroupsSettings checks that the settings of received mail stand together in the help
// of the command serve.
func TestHelpGroupsSettings(t *testing.T) {
	t.Parallel()
	r := runWith(t, nil, "serve", "--help")
	_, group, found := strings.Cut(r.stdout, "\nReceiving mail:\n")
	group, _, _ = strings.Cut(group, "\n\n")
	if !found {
		t.Fatalf("the help has no group for received mail:\n%s", r.stdout)
	}
	for _, flag := range strings.Fields("inbox-domain mail-host smtp-addr smtp-name smtp-cert smtp-key dns-servers rspamd-url clamd bucket-networks receive-ses-regions") {
		if !strings.Contains(group, "--"+flag+"=") {
			t.Errorf("--%s stands elsewhere", flag)
		}
	}
}
