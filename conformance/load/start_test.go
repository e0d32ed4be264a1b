package load

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/program"
)

// BenchmarkStart measures the time from the start of the process `mailhelm demo` until it
// prints that it is ready, and the processor time that it takes until then, which depends less on
// other work of the machine. It reports the first start, which creates the demo data, and the
// median of later starts (the mean of their processor time). It also reports the memory of the idle process, and the part of it that
// is not a page of the program's file.
func BenchmarkStart(b *testing.B) {
	binary := program.Build(b)
	data := b.TempDir()
	first := startAndStop(b, binary, data, 0)
	b.ResetTimer()
	for range b.N {
		b.ReportMetric(first.ready.Seconds()*1000, "first-ms")
		b.ReportMetric(first.processor.Seconds()*1000, "first-cpu-ms")
		var starts []float64
		var processor time.Duration // of all starts, because the system counts in hundredths of a second
		for range rounds {
			next := startAndStop(b, binary, data, 0)
			starts = append(starts, next.ready.Seconds()*1000)
			processor += next.processor
		}
		idle := startAndStop(b, binary, data, rest)
		b.ReportMetric(median(starts), "ready-ms")
		b.ReportMetric(processor.Seconds()*1000/rounds, "ready-cpu-ms")
		b.ReportMetric(idle.residentMB, "idle-MB")
		b.ReportMetric(idle.ownMB, "idle-own-MB")
	}
}

// rest is how long the process is idle before its memory is measured.
const rest = 5 * time.Second

// measuredStart has the figures of one start: the time until the process was ready, the
// processor time until then, and its memory after it was idle.
type measuredStart struct {
	ready, processor  time.Duration
	residentMB, ownMB float64
}

func startAndStop(b *testing.B, binary, data string, idle time.Duration) measuredStart {
	b.Helper()
	cmd := exec.Command(binary, "demo", "--json", "--data", data, "--port", strconv.Itoa(freeRow(b)))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	started := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}()
	if _, err := bufio.NewReader(out).ReadString('}'); err != nil {
		b.Fatalf("the program ended before it was ready: %v", err)
	}
	m := measuredStart{ready: time.Since(started), processor: processorTime(b, cmd.Process.Pid)}
	if idle > 0 {
		time.Sleep(idle) //nolint:forbidigo // rest is what is measured
		m.residentMB = resident(b, cmd.Process.Pid)
		m.ownMB = statusMB(b, cmd.Process.Pid, "RssAnon:")
	}
	return m
}

// resident returns the memory of a process in MB: its resident set size from Linux's /proc.
// On other systems it returns 0.
func resident(b *testing.B, pid int) float64 {
	b.Helper()
	return statusMB(b, pid, "VmRSS:")
}

// statusMB returns a size of a process in MB from Linux's /proc, by the label of its line. On other
// systems it returns 0.
func statusMB(b *testing.B, pid int, label string) float64 {
	b.Helper()
	if runtime.GOOS != "linux" {
		return 0
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if kilobytes, ok := strings.CutPrefix(line, label); ok {
			n, err := strconv.ParseFloat(strings.Fields(kilobytes)[0], 64)
			if err != nil {
				b.Fatal(err)
			}
			return n / 1024
		}
	}
	b.Fatal("no " + label)
	return 0
}
