package memory

import (
	"bufio"
	"bytes"
	"os"
	"reflect"
	"strconv"
	"strings"
	"syscall"
)

// forgetProgram takes the pages of the program's file that a start has used out of the memory of the
// process: code, constants and tables. The system keeps them in its cache of files, from which a page that
// is used again comes back without a read of the disk. It changes nothing if the system does not tell which
// pages these are.
func forgetProgram() {
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, m := range unchangedProgram(maps, reflect.ValueOf(forgetProgram).Pointer()) {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.from, m.until-m.from, syscall.MADV_DONTNEED)
	}
}

// mapping is a range of addresses.
type mapping struct {
	from, until uintptr
	file        string // device and inode
	// unchanged is true if all pages of the range are those of the file, and cannot be written. Others would
	// be lost: global variables, what the loader has relocated, and breakpoints of a debugger.
	unchanged bool
}

// unchangedProgram returns the unchanged ranges of a file, in the format of proc_pid_smaps(5). The file is the
// one that has the code at an address.
func unchangedProgram(maps []byte, code uintptr) []mapping {
	var all []mapping
	program := ""
	lines := bufio.NewScanner(bytes.NewReader(maps))
	for lines.Scan() {
		columns := strings.Fields(lines.Text())
		if m, isHeader := parseMapping(columns); isHeader {
			if all = append(all, m); m.from <= code && code < m.until {
				program = m.file
			}
		} else if len(all) > 0 && len(columns) > 1 && columns[0] == "Anonymous:" && columns[1] != "0" {
			all[len(all)-1].unchanged = false
		}
	}
	var found []mapping
	for _, m := range all {
		if m.unchanged && m.file == program && lines.Err() == nil {
			found = append(found, m)
		}
	}
	return found
}

// parseMapping parses the first line about a range: its addresses, permissions, offset, device and inode. The
// inode of memory that is of no file is 0.
func parseMapping(columns []string) (mapping, bool) {
	if len(columns) < 5 {
		return mapping{}, false
	}
	low, high, _ := strings.Cut(columns[0], "-")
	from, err := strconv.ParseUint(low, 16, strconv.IntSize)
	if err != nil {
		return mapping{}, false
	}
	until, err := strconv.ParseUint(high, 16, strconv.IntSize)
	if err != nil {
		return mapping{}, false
	}
	return mapping{
		from: uintptr(from), until: uintptr(until), file: columns[3] + " " + columns[4],
		unchanged: columns[4] != "0" && !strings.Contains(columns[1], "w"),
	}, true
}
