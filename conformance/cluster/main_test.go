package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/program"
)

// TestCtrlCStopsTheCluster starts the command in a process group of its own, and interrupts the group as a
// terminal does. The command must end in order, and leave no process and no data.
func TestCtrlCStopsTheCluster(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "cluster")
	if output, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	cmd := exec.Command(binary, "-program", program.Build(t), "-port", "17000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var problems strings.Builder
	cmd.Stderr = &problems
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	var described strings.Builder
	for lines := bufio.NewScanner(output); lines.Scan() && !strings.Contains(lines.Text(), "Ctrl-C stops everything"); {
		described.WriteString(lines.Text() + "\n")
	}
	folder := regexp.MustCompile(`data and logs +(\S+)`).FindStringSubmatch(described.String())
	if folder == nil {
		t.Fatalf("the command says\n%s\n%s", described.String(), problems.String())
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the command ends with %v: %s", err, problems.String())
		}
	case <-time.After(startTimeout):
		t.Fatalf("the command does not end: %s", problems.String())
	}
	if _, err := os.Stat(folder[1]); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", folder[1], err)
	}
	for _, name := range processesOf(t, folder[1]) {
		t.Errorf("a process is left: %s", name)
	}
}

// processesOf returns the command lines of processes that name a folder.
func processesOf(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(line), folder) {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}
