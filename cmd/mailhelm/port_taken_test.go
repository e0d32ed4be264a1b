package main

import (
	"net"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
)

// TestAdviceOnTakenPortNamesFlagsOfTheCommand starts commands on a port that is taken, and
// checks that the help of each command has the flags that its error names.
func TestAdviceOnTakenPortNamesFlagsOfTheCommand(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() //nolint:errcheck // the test is over
	port := strconv.Itoa(taken.Addr().(*net.TCPAddr).Port)
	flags := regexp.MustCompile(`--[a-z-]+`)
	for _, command := range []string{"demo", "serve"} {
		dir := filepath.Join(t.TempDir(), "data")
		r := runWith(t, map[string]string{"MAILHELM_DATA": dir, "MAILHELM_PORT": port}, command)
		if r.status != cli.ExitFailure || !strings.Contains(r.stderr, taken.Addr().String()+" is in use") {
			t.Fatalf("%s: status %d: %s", command, r.status, r.stderr)
		}
		help := runWith(t, nil, command, "--help").stdout
		named := flags.FindAllString(r.stderr, -1)
		if len(named) == 0 {
			t.Errorf("%s: the advice names no flag: %s", command, r.stderr)
		}
		for _, flag := range named {
			if !regexp.MustCompile(`(?m)^ +` + flag + "=").MatchString(help) {
				t.Errorf("%s has no flag %s: %s", command, flag, r.stderr)
			}
		}
	}
}
