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
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for _, m := range programMappings(maps, reflect.ValueOf(forgetProgram).Pointer()) {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.from, m.until-m.from, syscall.MADV_DONTNEED)
	}
}

// mapping is a range of addresses.
type mapping struct{ from, until uintptr }

// programMappings returns the ranges of a file that cannot be written, in the format of proc_pid_maps(5). The
// file is the one that has the code at an address. Ranges that can be written have data of the process,
// which would be lost.
func programMappings(maps []byte, code uintptr) []mapping {
	byFile, program := map[string][]mapping{}, ""
	lines := bufio.NewScanner(bytes.NewReader(maps))
	for lines.Scan() {
		// address, permissions, offset, device, inode and, except for anonymous memory, a path
		columns := strings.Fields(lines.Text())
		if len(columns) < 6 {
			continue
		}
		low, high, _ := strings.Cut(columns[0], "-")
		from, err := strconv.ParseUint(low, 16, strconv.IntSize)
		if err != nil {
			continue
		}
		until, err := strconv.ParseUint(high, 16, strconv.IntSize)
		if err != nil {
			continue
		}
		file, m := columns[3]+" "+columns[4], mapping{uintptr(from), uintptr(until)}
		if m.from <= code && code < m.until {
			program = file
		}
		if !strings.Contains(columns[1], "w") {
			byFile[file] = append(byFile[file], m)
		}
	}
	if program == "" || lines.Err() != nil {
		return nil
	}
	return byFile[program]
}
