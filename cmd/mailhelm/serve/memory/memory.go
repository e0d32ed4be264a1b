package memory

import (
	"context"
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/settings"
	"github.com/mailhelm/mailhelm/core"
)

const (
	// containerShare is the memory limit as a share of the container's memory. The rest is
	// for memory that the Go runtime does not count.
	containerShare = 0.9
	// machineShare is the memory limit as a share of the machine's memory, if there is no
	// container limit. Other programs need the rest.
	machineShare = 0.5
	// boundedPace is the greatest GOGC in percent if there is a memory limit. A small heap may
	// then grow to five times the memory in use before a collection; see [paceFor]. With Go's
	// default, it may only double.
	boundedPace = 400
	defaultPace = 100 // Go's default
)

// The environment variables by which an operator configures Go's garbage collector. The Go
// runtime reads them itself. An empty variable counts as unset.
const (
	limitVariable = "GOMEMLIMIT"
	paceVariable  = "GOGC"
)

// surroundings are the sources from which the settings of the garbage collector are
// derived. Tests replace them.
type surroundings struct {
	// variable returns an environment variable, or "" if it is unset. container and machine
	// return the memory of the container and of the machine, in bytes.
	variable  func(string) string
	container memlimit.Provider
	machine   memlimit.Provider
	// configured is the setting --memory-limit, "" if it is not set, and bytes its value.
	configured string
	bytes      int64
}

// thisProcess returns the sources from which the garbage collector settings of this process
// are derived: the configuration, its environment, its cgroup and its machine. An invalid
// memory limit counts as none; config.Config.Check reports it.
func thisProcess(cfg config.Config) surroundings {
	bytes, set, err := cfg.Memory()
	configured := cfg.MemoryLimit
	if err != nil || !set {
		configured = ""
	}
	return surroundings{configured: configured, bytes: bytes, variable: os.Getenv, container: memlimit.FromCgroup, machine: memlimit.FromSystem}
}

// collector holds settings of Go's garbage collector: the memory limit in bytes and GOGC
// (pace) in percent. 0 keeps the setting of the Go runtime.
type collector struct {
	limit int64
	pace  int
	// shown holds the values of GOMEMLIMIT and GOGC that `mailhelm config` prints.
	shown []settings.Value
}

// collector returns settings of Go's garbage collector for the variables that the operator
// did not set. It raises GOGC only if there is a memory limit, which bounds the heap.
func (s surroundings) collector() collector {
	var c collector
	limit := settings.Value{Name: limitVariable, Value: s.variable(limitVariable), Source: "environment " + limitVariable}
	switch {
	case s.configured != "":
		c.limit, limit.Value, limit.Source = s.bytes, s.configured, "--memory-limit"
	case limit.Value == "":
		c.limit, limit.Source = s.limit()
		limit.Value = "off"
		if c.limit > 0 {
			limit.Value = strconv.FormatInt(c.limit, 10)
		}
	}
	pace := settings.Value{Name: paceVariable, Value: s.variable(paceVariable), Source: "environment " + paceVariable}
	switch {
	case pace.Value != "":
	case limit.Value == "off":
		pace.Value, pace.Source = strconv.Itoa(defaultPace), "default"
	default:
		c.pace = boundedPace
		pace.Value, pace.Source = strconv.Itoa(boundedPace), "derived from "+limitVariable
	}
	c.shown = []settings.Value{limit, pace}
	return c
}

// limit returns the memory limit in bytes and its source. The limit is a share of the
// container's memory, or of the machine's if the container has no limit. If both sizes are
// unknown, limit returns 0.
func (s surroundings) limit() (bytes int64, from string) {
	if all, err := s.container(); err == nil && all < math.MaxInt64 {
		return int64(float64(all) * containerShare), "derived from the container's memory"
	}
	if all, err := s.machine(); err == nil && all < math.MaxInt64 {
		return int64(float64(all) * machineShare), "derived from the machine's memory"
	}
	return 0, "default"
}

// Settings returns the values of GOMEMLIMIT and GOGC with which a server in this process
// would run after [Set], and their sources. It only computes them.
func Settings(cfg config.Config) []settings.Value { return thisProcess(cfg).collector().shown }

// Set sets Go's garbage collector. Call it before the start of a server:
// with Go's default, collections take a third of the processor time of a start, because the heap
// is small and doubles again and again.
func Set(cfg config.Config) {
	c := thisProcess(cfg).collector()
	if c.limit > 0 {
		debug.SetMemoryLimit(c.limit)
	}
	if c.pace > 0 {
		debug.SetGCPercent(c.pace)
		last := c.pace
		followCollections(func() {
			if pace := paceFor(inUse()); pace != last { // setting it stops all goroutines for a moment
				debug.SetGCPercent(pace)
				last = pace
			}
		})
	}
}

// Release returns free memory to the operating system, and the pages of the program that only the
// start has used. It does so again six times in the following minute, because the first background jobs
// need memory too. It stops earlier if ctx ends. Each time it first calls giveBack, which releases
// memory that a cache or a pool holds; it logs an error of giveBack and does not return it. It also
// logs the settings of [Set].
//
// Call it after the start is complete, so that it returns all memory that only the start
// needed. The garbage collector, which runs rarely, would leave that memory to an idle process.
func Release(ctx context.Context, cfg config.Config, giveBack func(context.Context) error) {
	log := cfg.Log
	returnFree(ctx, giveBack, log)
	go func() {
		for pause := time.Second; pause < time.Minute && core.Sleep(ctx, pause) == nil; pause *= 2 {
			returnFree(ctx, giveBack, log)
		}
	}()
	for _, v := range thisProcess(cfg).collector().shown {
		log.Info("garbage collector", "setting", v.Name, "value", v.Value, "source", v.Source)
	}
}

// returnFree calls giveBack and returns free heap memory and pages of the program's file to the
// operating system. It may be repeated.
func returnFree(ctx context.Context, giveBack func(context.Context) error, log *slog.Logger) {
	if err := giveBack(ctx); err != nil {
		log.Debug("memory not given back", "cause", err.Error())
	}
	debug.FreeOSMemory()
	forgetProgram()
}
