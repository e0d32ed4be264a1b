package main

import (
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"syscall"
)

// giveBackCode takes the pages of the program's code out of the process's resident
// memory. Start runs through much of the program once, and the kernel maps the file in
// pieces of up to 2 MB around what is touched; nobody takes them back while there is
// memory. What still runs comes back from the page cache by itself. Only code is given
// back: nothing writes to it, so that nothing can be lost (madvise(2), MADV_DONTNEED).
func giveBackCode() error {
	from, to, err := codeOf(ownMappings)
	if err != nil {
		return err
	}
	if _, _, failed := syscall.Syscall(syscall.SYS_MADVISE, from, to-from, syscall.MADV_DONTNEED); failed != 0 {
		return fmt.Errorf("memory: give back code: %w", failed)
	}
	return nil
}

// ownMappings lists this process's mappings, one a line (proc_pid_maps(5)).
const ownMappings = "/proc/self/maps"

// codeOf is the mapping that this very function is in.
func codeOf(list string) (from, to uintptr, err error) {
	text, err := os.ReadFile(list)
	if err != nil {
		return 0, 0, fmt.Errorf("memory: mappings: %w", err)
	}
	here := reflect.ValueOf(codeOf).Pointer()
	for line := range strings.Lines(string(text)) {
		addresses, rest, _ := strings.Cut(line, " ")
		first, end, _ := strings.Cut(addresses, "-")
		from, badFrom := strconv.ParseUint(first, 16, 64)
		to, badTo := strconv.ParseUint(end, 16, 64)
		if badFrom != nil || badTo != nil || uintptr(from) > here || here >= uintptr(to) {
			continue
		}
		if !strings.HasPrefix(rest, "r-xp ") {
			return 0, 0, fmt.Errorf("memory: code is mapped %.4q, which is not only to read and run", rest)
		}
		return uintptr(from), uintptr(to), nil
	}
	return 0, 0, fmt.Errorf("memory: %s has no line for the program's code", list)
}
