package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// Not parallel: other tests would fetch the pages back while they are counted.
func TestTheProgramsFileIsGivenBackAndComesBack(t *testing.T) { //nolint:paralleltest // see above
	mappings, err := unwrittenOf(ownMappings)
	if err != nil {
		t.Fatal(err)
	}
	code, constants := false, false
	for _, m := range mappings {
		code, constants = code || m.permissions == "r-xp", constants || m.permissions == "r--p"
	}
	if !code || !constants {
		t.Fatalf("of the program's file %+v would be given back, want code and constants", mappings)
	}
	before := resident(t, mappings)
	if err := giveBackFile(); err != nil {
		t.Fatal(err)
	}
	after := resident(t, mappings)
	for _, m := range mappings {
		if after[m.from] >= before[m.from]/2 {
			t.Errorf("resident memory of %s went from %d kB to %d kB of %d kB, want less than half",
				m.permissions, before[m.from], after[m.from], (m.to-m.from)/1024)
		}
	}
	// What was given back still runs, and constants still are what they were.
	if fmt.Sprint(strconv.Quote("a\nb")) != `"a\nb"` || !strings.Contains(serveCommand{}.Help(), "mailhelm serve --data") {
		t.Error("the program does not do what it did")
	}
}

func TestTheProgramsFileIsNotGivenBackWhereItCouldBeLost(t *testing.T) {
	t.Parallel()
	here := reflect.ValueOf(unwrittenOf).Pointer()
	code := func(permissions, private string) string {
		return fmt.Sprintf("%08x-%08x %s 00400000 00:00 0 /program\nRss: 8 kB\nAnonymous: %s\n", here-here%4096, here-here%4096+4096, permissions, private)
	}
	for name, list := range map[string]string{
		"no such file":     "",
		"no line for it":   "00001000-00002000 r-xp 00000000 00:00 0 /other\nnot a mapping\n",
		"no file":          fmt.Sprintf("%08x-%08x r-xp 00400000 00:00 0\nAnonymous: 0 kB\n", here-here%4096, here-here%4096+4096),
		"can be written":   code("rwxp", "0 kB"),
		"was written":      code("r-xp", "4 kB"),
		"nobody can tell":  strings.ReplaceAll(code("r-xp", "0 kB"), "Anonymous", "Other"),
		"shared":           code("r-xs", "0 kB"),
		"only to be run":   code("--xp", "0 kB"),
		"figure unheard":   code("r-xp", "0 MB"),
		"mapped elsewhere": "00001000-7fffffffffff rwxp 00000000 00:00 0 /program\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if all, err := unwrittenOf(listed(t, list)); err == nil {
				t.Errorf("gave %+v, want a refusal", all)
			}
		})
	}
	// Constants that addresses were put into stay, and so does what belongs to others.
	others := "00001000-00002000 r--p 00000000 00:00 0 /program\nAnonymous: 0 kB\n" +
		"00002000-00003000 r--p 00000000 00:00 0 /program\nAnonymous: 4 kB\n" +
		"00003000-00004000 rw-p 00000000 00:00 0 /program\nAnonymous: 0 kB\n" +
		"00004000-00005000 r--p 00000000 00:00 0 /lib/other\nAnonymous: 0 kB\n"
	all, err := unwrittenOf(listed(t, others+code("r-xp", "0 kB")))
	if err != nil || len(all) != 2 || all[0].from != 0x1000 || all[1].permissions != "r-xp" {
		t.Errorf("gave %+v, %v; want the first and the code", all, err)
	}
}

// listed is a file with a list of mappings, or the path of none.
func listed(t *testing.T, list string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "smaps")
	if list == "" {
		return path
	}
	if err := os.WriteFile(path, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// resident is how many kB of each mapping are in memory, by where it begins.
func resident(t *testing.T, mappings []mapping) map[uintptr]int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	all := map[uintptr]int{}
	for _, m := range mappings {
		_, rest, found := strings.Cut(string(text), fmt.Sprintf("%08x-", m.from))
		if !found {
			t.Fatalf("no mapping at %x", m.from)
		}
		_, figure, _ := strings.Cut(rest, "\nRss:")
		var kB int
		if _, err := fmt.Sscan(figure, &kB); err != nil {
			t.Fatal(err)
		}
		all[m.from] = kB
	}
	return all
}
