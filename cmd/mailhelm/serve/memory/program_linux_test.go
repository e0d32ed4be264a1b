package memory

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const someMaps = `00400000-0142b000 r-xp 00000000 fe:00 7 /usr/bin/mailhelm (deleted)
Size:              16556 kB
Rss:                9000 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
0142b000-02bb6000 r--p 0102b000 fe:00 7 /usr/bin/mailhelm (deleted)
Anonymous:             0 kB
02bb6000-02bb7000 r--p 027b6000 fe:00 7 /usr/bin/mailhelm (deleted)
Anonymous:             4 kB
02bb7000-02cae000 rw-p 027b7000 fe:00 7 /usr/bin/mailhelm (deleted)
Anonymous:             0 kB
02cae000-02d4c000 r--p 00000000 00:00 0
Anonymous:             0 kB
c000000000-c004000000 rw-p 00000000 00:00 0 [anon: Go: heap]
Anonymous:         20480 kB
7f0a10000000-7f0a10021000 r--p 00000000 fe:00 9 /usr/lib/libc.so
Anonymous:             0 kB
7f0a10021000-7f0a10022000 r-xp 00000000 fe:01 7 /usr/lib/other
Anonymous:             0 kB
`

// TestUnchangedProgram looks for the ranges of a program with relocated constants and with variables that
// were not written yet.
func TestUnchangedProgram(t *testing.T) {
	t.Parallel()
	want := []mapping{{0x400000, 0x142b000, "fe:00 7", true}, {0x142b000, 0x2bb6000, "fe:00 7", true}}
	if diff := cmp.Diff(want, unchangedProgram([]byte(someMaps), 0x500000), cmp.AllowUnexported(mapping{})); diff != "" {
		t.Error(diff)
	}
	for name, maps := range map[string]string{
		"no file": "00400000-0142b000 r-xp 00000000 00:00 0\n", "another": someMaps[strings.Index(someMaps, "02cae000"):], "broken": "x-y r-xp 0 fe:00 7 /usr/bin/mailhelm\n", "none": "",
	} {
		if found := unchangedProgram([]byte(maps), 0x500000); found != nil {
			t.Errorf("%s: %v", name, found)
		}
	}
}

// TestForgottenProgramGoesOn takes the pages of the test program out of its memory. It must be smaller
// afterwards, and run.
func TestForgottenProgramGoesOn(t *testing.T) {
	before := residentOfFiles(t)
	forgetProgram()
	if after := residentOfFiles(t); after >= before {
		t.Errorf("%d KB of files before, %d after", before, after)
	}
}

// residentOfFiles returns the size in KB of the pages of files in the memory of the process.
func residentOfFiles(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "RssFile:")
	kilobytes, err := strconv.Atoi(strings.Fields(after)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes
}
