package config

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// The bounds of the sizes of pools. leastConns is the least of package storage: one connection
// for each lane.
const (
	leastConns  = 4
	mostConns   = 1000
	mostReaders = 64
	// The lag is measured several times in its bound.
	leastLag = 100 * time.Millisecond
	mostLag  = time.Hour
	// mostFirstPort leaves room for the five ports that follow it.
	mostFirstPort = 65535 - 5
	// leastMemory is the least memory limit. Below it, the garbage collector would take most of
	// the processor time.
	leastMemory = 64 << 20
)

// checkSizes returns an error if the size of a pool, the memory limit, the drain delay, the first
// port or the limit of activities is out of bounds.
func (c Config) checkSizes() error {
	if c.MaxConns != 0 && (c.MaxConns < leastConns || c.MaxConns > mostConns) {
		return fmt.Errorf("--database-connections %d: give a number from %d to %d", c.MaxConns, leastConns, mostConns)
	}
	if c.SQLiteReaders < 0 || c.SQLiteReaders > mostReaders {
		return fmt.Errorf("--sqlite-readers %d: give a number from 1 to %d", c.SQLiteReaders, mostReaders)
	}
	if c.ReplicaLag != 0 && (c.ReplicaLag < leastLag || c.ReplicaLag > mostLag) {
		return fmt.Errorf("--database-replica-lag %s: give a time from %s to %s", c.ReplicaLag, leastLag, mostLag)
	}
	if c.DrainDelay < 0 {
		return fmt.Errorf("--drain-delay %s: must not be negative", c.DrainDelay)
	}
	if c.FirstPort < 0 || c.FirstPort > mostFirstPort {
		return fmt.Errorf("--port %d: give a number from 1 to %d, because six consecutive ports are used", c.FirstPort, mostFirstPort)
	}
	if c.ActivitiesPerMinute < 0 {
		return fmt.Errorf("--activities-per-minute %d: must not be negative", c.ActivitiesPerMinute)
	}
	_, _, err := c.Memory()
	return err
}

// ReplicaBound returns how old the data of the replica may be, or 0 without a replica.
func (c Config) ReplicaBound() time.Duration {
	if c.DatabaseReplicaURL == "" {
		return 0
	}
	return cmp.Or(c.ReplicaLag, core.DefaultReplicaLag)
}

// units are the units of memory limits, as of the variable GOMEMLIMIT, longest first.
var units = []struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// Memory returns the memory limit in bytes, math.MaxInt64 for off. It returns false if the
// setting is empty.
func (c Config) Memory() (bytes int64, set bool, err error) {
	switch c.MemoryLimit {
	case "":
		return 0, false, nil
	case "off":
		return math.MaxInt64, true, nil
	}
	number, unit := c.MemoryLimit, int64(1)
	for _, u := range units {
		if digits, ok := strings.CutSuffix(c.MemoryLimit, u.name); ok {
			number, unit = digits, u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit {
		return 0, false, fmt.Errorf("--memory-limit %s: give a size such as 768MiB or 2GiB, or off", c.MemoryLimit)
	}
	if n*unit < leastMemory {
		return 0, false, fmt.Errorf("--memory-limit %s: give at least 64MiB", c.MemoryLimit)
	}
	return n * unit, true, nil
}
