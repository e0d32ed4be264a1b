package bundle_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/bundle"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core/bundles/plan"
)

// openTerminal returns both ends of a pseudoterminal (pty(7)): person is what a person types and reads,
// program the terminal of a program.
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = person.Close() })
	var number, unlocked int32
	for request, value := range map[uintptr]*int32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &unlocked} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, person.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 {
			t.Fatal(errno)
		}
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return person, program
}

// converse runs a command on a terminal on which a person types an answer, and returns what it shows.
func converse(t *testing.T, api, typed string, environment map[string]string, arguments ...string) result {
	t.Helper()
	person, program := openTerminal(t)
	if _, err := person.WriteString(typed); err != nil {
		t.Fatal(err)
	}
	shown := make(chan string, 1)
	go func() {
		var all bytes.Buffer
		_, _ = io.Copy(&all, person) // ends with an error when the program has closed its end
		shown <- all.String()
	}()
	var errs bytes.Buffer
	grammar := &struct {
		Bundle bundle.Command `cmd:""`
	}{}
	status := cli.Run(t.Context(), grammar, append([]string{"bundle"}, arguments...), cli.Surroundings{
		Stdin: program, Stdout: program, Stderr: &errs, Lookup: func(name string) (string, bool) {
			found, ok := map[string]string{"MAILHELM_API_KEY": "sk_live_x", "MAILHELM_SERVER": api}[name]
			if !ok {
				found, ok = environment[name]
			}
			return found, ok
		},
	})
	if err := program.Close(); err != nil {
		t.Fatal(err)
	}
	return result{status, strings.ReplaceAll(<-shown, "\r\n", "\n"), errs.String()}
}

// TestTerminal checks that apply asks on a terminal, and that plans have colours there.
func TestTerminal(t *testing.T) {
	t.Parallel()
	folder := folderOf(t, nil)
	dry := imported{DryRun: true, Plan: changing()}
	answers := []any{dry, imported{Plan: changing(), Applied: true, Objects: []plan.Object{changing().Objects[0]}}}

	api := serve(t, answers...)
	converse(t, api.URL, "yes\n", nil, "apply", folder).expect(t, cli.ExitOK, "\x1b[32m+ new", "Apply these changes to the organization at "+api.URL+"?", "1 created")
	if got := strings.Join(api.queries, " "); got != "dry_run=true&prune=false dry_run=false&prune=false" {
		t.Error(got)
	}
	for _, typed := range []string{"y\n", "no\n", "\n", "YES\n"} {
		api = serve(t, answers...)
		converse(t, api.URL, typed, nil, "apply", folder).expect(t, cli.ExitFailure, "nothing was applied")
		if len(api.queries) != 1 {
			t.Errorf("%q applies: %v", typed, api.queries)
		}
	}
	for _, none := range []map[string]string{{"NO_COLOR": "1"}, {"TERM": "dumb"}} {
		got := converse(t, serve(t, dry).URL, "", none, "plan", folder)
		if got.expect(t, cli.ExitChanges, "  + new"); strings.Contains(got.out, "\x1b") {
			t.Errorf("%v: %q", none, got.out)
		}
	}
	changed := converse(t, exports(t, exported(), ""), "", nil, "diff", exportedFolder(t))
	changed.expect(t, cli.ExitChanges, "\x1b[31m-other", "\x1b[32m+<p>")
}

// exportedFolder returns a folder that differs from the definitions of exported.
func exportedFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	run(t, exports(t, exported(), ""), "export", folder).expect(t, cli.ExitOK)
	write(t, folder, "templates/welcome.hbs", "other\n")
	return folder
}
