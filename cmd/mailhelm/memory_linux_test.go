package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Not parallel: other tests would fetch the code back while it is counted.
func TestCodeIsGivenBackAndComesBack(t *testing.T) { //nolint:paralleltest // see above
	from, to, err := codeOf(ownMappings)
	if err != nil {
		t.Fatal(err)
	}
	before := residentCode(t, from)
	if err := giveBackCode(); err != nil {
		t.Fatal(err)
	}
	after := residentCode(t, from)
	if after >= before/2 {
		t.Errorf("resident code went from %d kB to %d kB of %d kB, want less than half", before, after, (to-from)/1024)
	}
	// What was given back still runs.
	if fmt.Sprint(strconv.Quote("a\nb")) != `"a\nb"` {
		t.Error("code does not do what it did")
	}
}

func TestCodeIsNotGivenBackWhenItCouldBeLost(t *testing.T) {
	t.Parallel()
	for name, list := range map[string]string{
		"no such file":   "",
		"no line for it": "00001000-00002000 r-xp 00000000 00:00 0 /other\nnot a mapping\n",
		"written to":     "00001000-7fffffffffff rwxp 00000000 00:00 0 /program\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "maps")
			if list != "" {
				if err := os.WriteFile(path, []byte(list), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if from, to, err := codeOf(path); err == nil {
				t.Errorf("gave %x-%x, want a refusal", from, to)
			}
		})
	}
}

// residentCode is how many kB of the mapping that begins at from are in memory.
func residentCode(t *testing.T, from uintptr) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	_, mapping, found := strings.Cut(string(text), fmt.Sprintf("%08x-", from))
	if !found {
		t.Fatalf("no mapping at %x", from)
	}
	_, resident, _ := strings.Cut(mapping, "\nRss:")
	var kB int
	if _, err := fmt.Sscan(resident, &kB); err != nil {
		t.Fatal(err)
	}
	return kB
}
