package daemon_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/storage/engine/enginetest/daemon"
)

const wait = 20 * time.Second

// TestStopEndsAllProcesses stops a program that has started another one, after an interrupt as of Ctrl-C.
func TestStopEndsAllProcesses(t *testing.T) {
	t.Parallel()
	d, err := daemon.Start(daemon.Config{Command: []string{"sh", "-c", `sleep 600 & echo "child $!"; wait`}, Ready: "child", Wait: wait})
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimPrefix(d.Output(), "child "))
	if err != nil {
		t.Fatal(err)
	}
	if group, err := syscall.Getpgid(child); err != nil || group == syscall.Getpgrp() {
		t.Errorf("the program is in the process group of the test, which Ctrl-C interrupts: %v", err)
	}
	d.Stop()
	d.Stop()
	awaitEnd(t, child)
}

// awaitEnd waits until a process has ended. It may still be in the table until it is reaped.
func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	const pause = 10 * time.Millisecond
	again := time.NewTicker(pause)
	defer again.Stop()
	for range wait / pause {
		state, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil || strings.Contains(string(state), ") Z ") {
			return
		}
		<-again.C
	}
	t.Errorf("the process %d runs", pid)
}

// TestProgramEndsWithTheTestProcess runs a test process that starts a program and is killed.
func TestProgramEndsWithTheTestProcess(t *testing.T) {
	t.Parallel()
	if os.Getenv("MAILHELM_TEST_DAEMON") != "" {
		d, err := daemon.Start(daemon.Config{Command: []string{"sh", "-c", `echo "pid $$"; exec sleep 600`}, Ready: "pid", Wait: wait})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = os.Stderr.WriteString(d.Output() + "\n")
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestProgramEndsWithTheTestProcess$")
	cmd.Env = append(os.Environ(), "MAILHELM_TEST_DAEMON=1")
	said, _ := cmd.CombinedOutput() // fails, because it kills itself
	pid, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(string(said), "pid ")))
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	awaitEnd(t, pid)
}

// TestFailedStarts starts a program that ends, one that is never ready, and one that does not exist.
func TestFailedStarts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		command []string
		wait    time.Duration
		want    string
	}{
		{[]string{"sh", "-c", "echo no such port; exit 3"}, wait, "no such port"},
		{[]string{"sh", "-c", "echo hello; exec sleep 600"}, 300 * time.Millisecond, "is not ready after 300ms: hello"},
		{[]string{"/no/such/program"}, wait, "/no/such/program ended"},
	} {
		if d, err := daemon.Start(daemon.Config{Command: c.command, Ready: "ready", Wait: c.wait}); d != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.command, err, c.want)
		}
	}
}
