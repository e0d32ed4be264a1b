package main

import (
	"log/slog"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

const (
	cgroupMemoryLimit = "/sys/fs/cgroup/memory.max"
	// limitShare leaves room for what the Go heap does not count.
	limitShare = 0.9
)

// tuneMemory makes the garbage collector respect a container's memory limit: Go
// reads GOMEMLIMIT but not the cgroup (version 2; older ones are left alone). The
// collector's pace, GOGC, stays what the operator sets: collecting less often is
// faster under load and costs idle memory, and which of them matters is his to say.
func tuneMemory(log *slog.Logger) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	text, err := os.ReadFile(cgroupMemoryLimit)
	if err != nil {
		return
	}
	limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // "max" without a limit
	if err != nil || limit <= 0 {
		return
	}
	debug.SetMemoryLimit(int64(float64(limit) * limitShare))
	log.Debug("memory limit taken from the container", "bytes", limit)
}
