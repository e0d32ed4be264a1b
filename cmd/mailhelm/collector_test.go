package main

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/settings"
)

// collectorShown returns the settings GOMEMLIMIT and GOGC as `mailhelm config --json`
// prints them when run with the given environment variables.
func collectorShown(t *testing.T, environment ...string) (limit, pace settings.Value) {
	t.Helper()
	var out struct{ Settings []settings.Value }
	if err := json.NewDecoder(launch(t, environment, "config", "--json").stdout).Decode(&out); err != nil {
		t.Fatal(err)
	}
	for _, v := range out.Settings {
		switch v.Name {
		case "GOMEMLIMIT":
			limit = v
		case "GOGC":
			pace = v
		}
	}
	return limit, pace
}

// TestStartedProcessHasTheCollectorItShows checks that a started server has the memory
// limit and the GOGC value that `mailhelm config` prints.
func TestStartedProcessHasTheCollectorItShows(t *testing.T) {
	t.Parallel()
	const bounded, megabyte = 400, 1 << 20
	unset, pace := collectorShown(t, "GOMEMLIMIT=", "GOGC=")
	derived, err := strconv.ParseFloat(unset.Value, 64)
	if err != nil || unset.Source == "" {
		t.Fatalf("the limit is shown as %+v: does this machine tell how much memory it has?", unset)
	}
	if want := (settings.Value{Name: "GOGC", Value: "400", Source: "derived from GOMEMLIMIT"}); pace != want {
		t.Errorf("the pace is shown as %+v, want %+v", pace, want)
	}
	for name, test := range map[string]struct {
		environment []string
		limit, pace float64
	}{
		"derived":      {[]string{"GOMEMLIMIT=", "GOGC="}, derived, bounded},
		"own limit":    {[]string{"GOMEMLIMIT=512MiB", "GOGC="}, 512 * megabyte, bounded},
		"own pace":     {[]string{"GOMEMLIMIT=", "GOGC=50"}, derived, 50},
		"without both": {[]string{"GOMEMLIMIT=off", "GOGC="}, math.MaxInt64, 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, port := launchServe(t, test.environment, "--data", filepath.Join(t.TempDir(), "data"))
			p.awaits(`"setting":"GOGC"`)
			metrics := request(t, http.MethodGet, fmt.Sprintf("http://localhost:%d/metrics", port+5), "", "").body
			if limit := gauge(t, metrics, "go_gc_gomemlimit_bytes"); limit != test.limit {
				t.Errorf("memory limit %.0f, want %.0f", limit, test.limit)
			}
			if pace := gauge(t, metrics, "go_gc_gogc_percent"); pace != test.pace {
				t.Errorf("pace %.0f, want %.0f", pace, test.pace)
			}
		})
	}
}

func gauge(t *testing.T, metrics, name string) float64 {
	t.Helper()
	line := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindStringSubmatch(metrics)
	if line == nil {
		t.Fatalf("no %s among the metrics", name)
	}
	value, err := strconv.ParseFloat(line[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}
