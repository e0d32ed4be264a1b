package main

import (
	"context"
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/settings"
	"github.com/mailhelm/mailhelm/storage"
)

const (
	// containerShare leaves room for what the Go runtime does not count.
	containerShare = 0.9
	// machineShare is of a machine without a container's limit, where others work too.
	machineShare = 0.5
	// boundedPace is GOGC under a memory limit: the heap may grow to five times
	// what is alive before it is collected, where Go's own pace is twice.
	boundedPace = 400
	defaultPace = 100 // Go's own
)

// The variables by which an operator sets the collector. Go reads them itself, at
// start, and an empty one is as good as none.
const (
	limitVariable = "GOMEMLIMIT"
	paceVariable  = "GOGC"
)

// surroundings are what the settings of the collector follow from.
type surroundings struct {
	variable  func(string) string
	container memlimit.Provider
	machine   memlimit.Provider
}

func thisProcess() surroundings {
	return surroundings{variable: os.Getenv, container: memlimit.FromCgroup, machine: memlimit.FromSystem}
}

// collector is how the garbage collector is set. A limit (bytes) or pace (percent)
// of 0 is left as Go has it.
type collector struct {
	limit int64
	pace  int
	// shown are both under the names by which an operator can change them.
	shown []settings.Value
}

// collector decides what the operator left open. The slow pace is chosen only
// under a limit, which is what bounds it.
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

// limit is a share of the container's memory or else of the machine's, and says
// which. It is 0 when neither tells how much that is.
func (s surroundings) limit() (bytes int64, from string) {
	if all, err := s.container(); err == nil && all < math.MaxInt64 {
		return int64(float64(all) * containerShare), "derived from the container's memory"
	}
	if all, err := s.machine(); err == nil && all < math.MaxInt64 {
		return int64(float64(all) * machineShare), "derived from the machine's memory"
	}
	return 0, "default"
}

// tuneMemory sets the collector of this process and logs what it chose. It is
// called when everything has started: what that left behind is given back first,
// because at the slow pace a process at rest would keep it. The first runs of jobs
// are a part of starting, so it is given back again until they are surely over; ctx
// ends that earlier.
func tuneMemory(ctx context.Context, db *storage.DB, log *slog.Logger) {
	c := thisProcess().collector()
	giveBack(ctx, db, log)
	go func() {
		for pause := time.Second; pause < time.Minute && sleep(ctx, pause); pause *= 2 {
			giveBack(ctx, db, log)
		}
	}()
	if c.limit > 0 {
		debug.SetMemoryLimit(c.limit)
	}
	if c.pace > 0 {
		debug.SetGCPercent(c.pace)
	}
	for _, v := range c.shown {
		log.Info("garbage collector", "setting", v.Name, "value", v.Value, "source", v.Source)
	}
}

// giveBack returns to the system what nothing uses now.
func giveBack(ctx context.Context, db *storage.DB, log *slog.Logger) {
	if err := db.GiveBack(ctx); err != nil {
		log.Debug("the database's connections stay open", "cause", err.Error())
	}
	debug.FreeOSMemory()
}

// sleep reports whether the time has passed before ctx ended.
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
