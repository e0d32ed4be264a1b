package serve

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/settings"
)

const (
	// containerShare leaves room for memory that the Go runtime does not count.
	containerShare = 0.9
	// machineShare applies without a container's limit; other programs need the rest.
	machineShare = 0.5
	// boundedPace is GOGC under a memory limit. The heap may grow to five times the
	// live heap before a collection; Go's default is twice.
	boundedPace = 400
	defaultPace = 100 // Go's default
)

// The variables by which an operator sets the collector. Go reads them itself, at
// start. An empty one counts as unset.
const (
	limitVariable = "GOMEMLIMIT"
	paceVariable  = "GOGC"
)

// surroundings determine the settings of the collector. Tests replace them.
type surroundings struct {
	// variable reads a variable, "" if it is unset. container and machine return the
	// memory in bytes.
	variable  func(string) string
	container memlimit.Provider
	machine   memlimit.Provider
}

// thisProcess returns the real surroundings: the environment, the cgroup of the process
// and the machine.
func thisProcess() surroundings {
	return surroundings{variable: os.Getenv, container: memlimit.FromCgroup, machine: memlimit.FromSystem}
}

// collector holds the settings of the garbage collector. A limit (bytes) or pace
// (percent) of 0 keeps Go's own setting.
type collector struct {
	limit int64
	pace  int
	// shown are both settings under the names of their variables.
	shown []settings.Value
}

// collector returns the settings that the operator left open. It selects the slow pace
// only under a limit, which bounds the heap. It changes no setting, so `mailhelm
// config` can show the result.
func (s surroundings) collector() collector {
	var c collector
	limit := settings.Value{Name: limitVariable, Value: s.variable(limitVariable), Source: "environment " + limitVariable}
	if limit.Value == "" {
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

// limit returns a share of the container's memory, or else of the machine's, and its
// source. It is 0 when both are unknown. The limit is in bytes. A container without a
// limit counts as unknown.
func (s surroundings) limit() (bytes int64, from string) {
	if all, err := s.container(); err == nil && all < math.MaxInt64 {
		return int64(float64(all) * containerShare), "derived from the container's memory"
	}
	if all, err := s.machine(); err == nil && all < math.MaxInt64 {
		return int64(float64(all) * machineShare), "derived from the machine's memory"
	}
	return 0, "default"
}

// TuneMemory returns free memory to the system, then sets the garbage collector of this
// process and logs the settings. It repeats the first step for half a minute, because
// the first runs of jobs are a part of starting. The end of ctx stops the repetition.
// Call it when everything has started: at the slow pace an idle process would keep the
// memory that starting took.
func (h *Host) TuneMemory(ctx context.Context) {
	c := thisProcess().collector()
	h.returnMemory(ctx)
	go func() {
		for pause := time.Second; pause < time.Minute && sleep(ctx, pause); pause *= 2 {
			h.returnMemory(ctx)
		}
	}()
	if c.limit > 0 {
		debug.SetMemoryLimit(c.limit)
	}
	if c.pace > 0 {
		debug.SetGCPercent(c.pace)
	}
	for _, v := range c.shown {
		h.cfg.Log.Info("garbage collector", "setting", v.Name, "value", v.Value, "source", v.Source)
	}
}

// returnMemory closes idle connections to the database and returns free heap to the
// system. It only logs an error. It may be repeated.
func (h *Host) returnMemory(ctx context.Context) {
	if err := h.DB().GiveBack(ctx); err != nil {
		h.cfg.Log.Debug("the database's connections stay open", "cause", err.Error())
	}
	debug.FreeOSMemory()
}

// sleep reports whether the time passed before ctx ended. It waits at most d.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
