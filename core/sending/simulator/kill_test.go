package simulator_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// writerVariable is an environment variable with the path of an account's file. If it is
// set, the test binary only writes to this file, as a process that the test can kill.
const writerVariable = "SIMULATOR_TEST_WRITER"

func TestMain(m *testing.M) {
	if path := os.Getenv(writerVariable); path != "" {
		writeUntilKilled(path)
	}
	os.Exit(m.Run())
}

// writeUntilKilled writes contacts until the process is killed. After each successful
// write, it prints the address on standard output.
func writeUntilKilled(path string) {
	s, err := simulator.Open(path, simulator.Options{})
	for i := 0; err == nil; i++ {
		if err = s.PutContact(context.Background(), "org", person(i)); err == nil {
			_, err = fmt.Fprintln(os.Stdout, person(i).Email)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// TestAcknowledgedWritesSurviveAKill checks that successful writes of a killed process are
// in the file. It kills two writers, one after the other, while this process has the file
// open too.
func TestAcknowledgedWritesSurviveAKill(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "account.db")
	s := open(t, path, simulator.Options{})
	seed(t, s, "org", 0)
	for range 2 {
		acknowledged := killedWriter(t, path, 200)
		reopened := open(t, path, simulator.Options{})
		for _, email := range acknowledged {
			if _, err := reopened.Contact(t.Context(), "org", email); err != nil {
				t.Fatalf("%s was acknowledged and is gone: %v", email, err)
			}
			if _, err := s.Contact(t.Context(), "org", email); err != nil {
				t.Fatalf("%s was acknowledged and is not seen by who was there before: %v", email, err)
			}
		}
		must(t, s.PutContact(t.Context(), "org", person(1_000_000)))
	}
}

// killedWriter starts a writer process and kills it after n writes. It returns the
// addresses that the process reported as written, which are at least n.
func killedWriter(t *testing.T, path string, n int) []string {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	writer := exec.CommandContext(t.Context(), self)
	writer.Env = append(os.Environ(), writerVariable+"="+path)
	writer.Stderr = os.Stderr
	out, err := writer.StdoutPipe()
	must(t, err)
	must(t, writer.Start())
	var acknowledged []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if acknowledged = append(acknowledged, lines.Text()); len(acknowledged) == n {
			must(t, writer.Process.Kill())
		}
	}
	if err := writer.Wait(); !isKilled(err) || len(acknowledged) < n {
		t.Fatalf("the writer ended after %d writes: %v", len(acknowledged), err)
	}
	return acknowledged
}

func isKilled(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && exit.ExitCode() == -1 // ended by a signal
}
