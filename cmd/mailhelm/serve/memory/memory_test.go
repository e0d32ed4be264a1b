package memory

import (
	"errors"
	"math"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
)

const megabyte = 1 << 20

func unknown() (uint64, error) { return 0, errors.New("not told") }

func unlimited() (uint64, error) { return 0, memlimit.ErrNoLimit }

func TestCollectorFollowsTheMemoryThereIs(t *testing.T) {
	t.Parallel()
	operator := func(limit, pace string) map[string]string {
		return map[string]string{limitVariable: limit, paceVariable: pace}
	}
	tests := map[string]struct {
		container, machine      memlimit.Provider
		variables               map[string]string
		limit                   int64
		pace                    int
		shownLimit, shownPace   string
		limitSource, paceSource string
	}{
		"container": {
			memlimit.Limit(1000 * megabyte), memlimit.Limit(8000 * megabyte), nil,
			900 * megabyte, 400, "943718400", "400", "derived from the container's memory", "derived from GOMEMLIMIT",
		},
		"container without a limit": {
			unlimited, memlimit.Limit(8000 * megabyte), nil,
			4000 * megabyte, 400, "4194304000", "400", "derived from the machine's memory", "derived from GOMEMLIMIT",
		},
		"limit of the largest number, which is none": {
			memlimit.Limit(math.MaxUint64), memlimit.Limit(8000 * megabyte), nil,
			4000 * megabyte, 400, "4194304000", "400", "derived from the machine's memory", "derived from GOMEMLIMIT",
		},
		"nothing known": {unknown, unknown, nil, 0, 0, "off", "100", "default", "default"},
		"operator set both": {
			memlimit.Limit(1000 * megabyte), unknown, operator("64MiB", "50"),
			0, 0, "64MiB", "50", "environment GOMEMLIMIT", "environment GOGC",
		},
		"operator set the limit": {
			memlimit.Limit(1000 * megabyte), unknown, operator("64MiB", ""),
			0, 400, "64MiB", "400", "environment GOMEMLIMIT", "derived from GOMEMLIMIT",
		},
		"operator set the pace": {
			memlimit.Limit(1000 * megabyte), unknown, operator("", "off"),
			900 * megabyte, 0, "943718400", "off", "derived from the container's memory", "environment GOGC",
		},
		"operator wants no limit": {
			memlimit.Limit(1000 * megabyte), unknown, operator("off", ""),
			0, 0, "off", "100", "environment GOMEMLIMIT", "default",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := surroundings{
				variable:  func(name string) string { return test.variables[name] },
				container: test.container, machine: test.machine,
			}.collector()
			if c.limit != test.limit || c.pace != test.pace {
				t.Errorf("limit %d, pace %d; want %d and %d", c.limit, c.pace, test.limit, test.pace)
			}
			limit, pace := c.shown[0], c.shown[1]
			if limit.Value != test.shownLimit || limit.Source != test.limitSource {
				t.Errorf("limit is shown as %+v", limit)
			}
			if pace.Value != test.shownPace || pace.Source != test.paceSource {
				t.Errorf("pace is shown as %+v", pace)
			}
		})
	}
}

// TestConfiguredLimitComesFirst checks that the setting --memory-limit takes precedence over the
// variable and over the container.
func TestConfiguredLimitComesFirst(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]collector{
		"700MiB": {limit: 700 * megabyte, pace: boundedPace}, "off": {limit: math.MaxInt64},
	} {
		s := thisProcess(config.Config{MemoryLimit: text})
		s.variable = func(name string) string { return map[string]string{limitVariable: "64MiB"}[name] }
		s.container = memlimit.Limit(1000 * megabyte)
		c := s.collector()
		if c.limit != want.limit || c.pace != want.pace || c.shown[0].Value != text || c.shown[0].Source != "--memory-limit" {
			t.Errorf("%s: %+v", text, c)
		}
	}
}
