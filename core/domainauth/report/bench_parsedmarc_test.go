package report_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// benchParsedmarc reads the packed report of benchRecords records by parsedmarc, whose source is in the
// folder. python3 must find what it requires (testdata/parsedmarc.py).
func benchParsedmarc(b *testing.B, folder string, packed []byte) {
	b.Helper()
	file := filepath.Join(b.TempDir(), "report.xml.gz")
	if err := os.WriteFile(file, packed, 0o600); err != nil {
		b.Fatal(err)
	}
	python := exec.CommandContext(b.Context(), "python3", "testdata/parsedmarc.py", folder, file)
	python.Stderr = os.Stderr
	in, err := python.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := python.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := python.Start(); err != nil {
		b.Fatal(err)
	}
	answers := bufio.NewReader(out)
	var all float64
	read := func() (took float64) {
		if _, err := io.WriteString(in, "\n"); err != nil {
			b.Fatal(err)
		}
		n := 0
		if _, err := fmt.Fscanln(answers, &n, &took); err != nil || n != benchRecords {
			b.Fatalf("%d records, %v", n, err)
		}
		return took
	}
	read() // fills what parsedmarc keeps for all reports
	for b.Loop() {
		all += read()
	}
	b.ReportMetric(float64(benchRecords)*float64(b.N)/all, "records/s")
	_ = in.Close()
	if err := python.Wait(); err != nil {
		b.Fatal(err)
	}
}
