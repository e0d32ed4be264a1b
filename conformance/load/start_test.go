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
// prints that it is ready. It reports the first start, which creates the demo data, and the
// median of later starts. It also reports the memory of the idle process.
func BenchmarkStart(b *testing.B) {
	binary := program.Build(b)
	data := b.TempDir()
	first, _ := startAndStop(b, binary, data, 0)
	b.ResetTimer()
	for range b.N {
		b.ReportMetric(first.Seconds()*1000, "first-ms")
		var starts []float64
		for range rounds {
			took, _ := startAndStop(b, binary, data, 0)
			starts = append(starts, took.Seconds()*1000)
		}
		_, resident := startAndStop(b, binary, data, rest)
		b.ReportMetric(median(starts), "ready-ms")
		b.ReportMetric(resident, "idle-MB")
	}
}

// rest is how long the process is idle before its memory is measured.
const rest = 5 * time.Second

func startAndStop(b *testing.B, binary, data string, idle time.Duration) (ready time.Duration, residentMB float64) {
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
	ready = time.Since(started)
	if idle > 0 {
		time.Sleep(idle) //nolint:forbidigo // rest is what is measured
		residentMB = resident(b, cmd.Process.Pid)
	}
	return ready, residentMB
}

// resident returns the memory of a process in MB: its resident set size from Linux's /proc.
// On other systems it returns 0.
func resident(b *testing.B, pid int) float64 {
	b.Helper()
	if runtime.GOOS != "linux" {
		return 0
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if kilobytes, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.ParseFloat(strings.Fields(kilobytes)[0], 64)
			if err != nil {
				b.Fatal(err)
			}
			return n / 1024
		}
	}
	b.Fatal("no VmRSS")
	return 0
}
