package main

import (
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"syscall"
)

// giveBackFile takes the pages of the program's code and constants out of the
// process's resident memory. Start runs through much of the program once, and the
// kernel maps the file in pieces of up to 2 MB around what is touched; nobody takes
// them back while there is memory. What is still used comes back from the page cache by
// itself. Only what is as the file has it is given back, so that nothing can be lost
// (madvise(2), MADV_DONTNEED).
func giveBackFile() error {
	mappings, err := unwrittenOf(ownMappings)
	if err != nil {
		return err
	}
	for _, m := range mappings {
		if _, _, failed := syscall.Syscall(syscall.SYS_MADVISE, m.from, m.to-m.from, syscall.MADV_DONTNEED); failed != 0 {
			return fmt.Errorf("memory: give back the program's file: %w", failed)
		}
	}
	return nil
}

// ownMappings lists this process's mappings, each with what is in memory of it
// (proc_pid_smaps(5)).
const ownMappings = "/proc/self/smaps"

// mapping is a part of the address space. private is how much of it is this process's
// own, as what was written to is, and what the linker put addresses into.
type mapping struct {
	from, to          uintptr
	permissions, file string
	private           string
}

// unwrittenOf are the mappings of the file that this very function is in which nobody
// can write to and nobody has written to. The function itself must be in one of them.
func unwrittenOf(list string) ([]mapping, error) {
	all, err := mappingsOf(list)
	if err != nil {
		return nil, err
	}
	here := reflect.ValueOf(unwrittenOf).Pointer()
	var code mapping
	for _, m := range all {
		if m.from <= here && here < m.to {
			code = m
		}
	}
	switch {
	case code.file == "":
		return nil, fmt.Errorf("memory: %s has no file for the program's code", list)
	case !code.unwritten():
		return nil, fmt.Errorf("memory: code is mapped %q with %s of its own, not only to read and run", code.permissions, code.private)
	}
	var unwritten []mapping
	for _, m := range all {
		if m.file == code.file && m.unwritten() {
			unwritten = append(unwritten, m)
		}
	}
	return unwritten, nil
}

func (m mapping) unwritten() bool {
	return (m.permissions == "r-xp" || m.permissions == "r--p") && m.private == "0 kB"
}

// mappingsOf reads a list of mappings: a line with addresses, permissions, offset,
// device, inode and file, and then lines of a name, a colon and a figure.
func mappingsOf(list string) ([]mapping, error) {
	text, err := os.ReadFile(list)
	if err != nil {
		return nil, fmt.Errorf("memory: mappings: %w", err)
	}
	var all []mapping
	for line := range strings.Lines(string(text)) {
		if figure, is := strings.CutPrefix(line, "Anonymous:"); is && len(all) > 0 {
			all[len(all)-1].private = strings.TrimSpace(figure)
			continue
		}
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		first, end, isRange := strings.Cut(fields[0], "-")
		from, badFrom := strconv.ParseUint(first, 16, 64)
		to, badTo := strconv.ParseUint(end, 16, 64)
		if !isRange || badFrom != nil || badTo != nil {
			continue
		}
		all = append(all, mapping{from: uintptr(from), to: uintptr(to), permissions: fields[1], file: strings.Join(fields[5:], " ")})
	}
	return all, nil
}
