package overview

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
)

//go:embed page.html
var files embed.FS

//go:embed style.css
var style string

// refreshEvery is how often a page reloads itself if its reader asks for it.
const refreshEvery = 15 * time.Second

// parsed is the template of the page.
var parsed = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(files, "page.html"))
})

// policy is the Content-Security-Policy of the page: its stylesheet and nothing else.
var policy = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
})

// State is whether the process can answer calls, and what an operator should do. The maps are
// those of /readyz, by the names of the checks.
type State struct {
	Ready bool
	// Checks has "ok" or "failed" for each check, and Causes the reasons of failures.
	Checks, Causes map[string]string
	// Warnings has texts about what does not keep the process from answering calls.
	Warnings map[string]string
}

// Handler returns the handler of the page. check returns the state of the process, in at most two
// seconds. If the database does not answer, the page takes up to three seconds more.
func Handler(h *History, check func(context.Context) State) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		state := check(r.Context())
		screen := screenOf(h, state)
		screen.Refreshing = r.URL.Query().Has("refresh")
		var body bytes.Buffer
		if err := parsed().ExecuteTemplate(&body, "page.html", screen); err != nil {
			http.Error(w, "The page could not be written. /metrics has the same figures.", http.StatusInternalServerError)
			return
		}
		head := w.Header()
		head.Set("Content-Type", "text/html; charset=utf-8")
		head.Set("Content-Security-Policy", policy())
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("Cache-Control", "no-store")
		_, _ = w.Write(body.Bytes()) // an error means that the client has disconnected
	})
}

// screen is the data of the page.
type screen struct {
	Style      template.CSS
	Refreshing bool
	Refresh    int // seconds
	Version    string
	At         string
	Up         string
	State      State
	Failed     []string // what failed checks mean, with their causes
	Figures    []figure
	Panels     []panel
	From       string // the times of the axis of the charts
	Middle     string
	Until      string
	Tables     []table
}

// failures says what the failure of a check means.
var failures = map[string]string{
	"accepting":  "This process is stopping. It takes no new calls.",
	"database":   "The database accepts no calls.",
	"migrations": "The database does not have the schema of this program. Run 'mailhelm migrate up'.",
	"redis":      "Redis does not answer, so each process enforces the rate limits alone.",
}

// figure is a number with a name.
type figure struct{ Name, Value string }

func screenOf(h *History, state State) screen {
	now := read(h.metrics, h.clock())
	samples := h.until(now)
	s := screen{
		Style:   template.CSS(style), //nolint:gosec // a file of this package
		Refresh: int(refreshEvery.Seconds()), State: state, At: now.at.UTC().Format(time.DateTime),
		Version: now.label("mailhelm_build_info", "version"), Figures: figures(now, samples), Panels: panels(samples),
		From: now.at.Add(-time.Hour).UTC().Format("15:04"), Middle: now.at.Add(-time.Hour / 2).UTC().Format("15:04"), Until: now.at.UTC().Format("15:04"),
		Tables: slices.Concat([]table{queues(now), jobs(now)}, replica(now), []table{pools(now), syncs(now), processes(now)}),
	}
	if started := now.sum("process_start_time_seconds", nil); started > 0 {
		s.Up = age(max(0, float64(now.at.UnixMilli())/1000-started))
	}
	for _, check := range slices.Sorted(maps.Keys(state.Checks)) {
		if state.Checks[check] == "ok" {
			continue
		}
		text := cmp.Or(failures[check], name(check)+" failed.")
		if cause := state.Causes[check]; cause != "" {
			text += " " + cause
		}
		s.Failed = append(s.Failed, text)
	}
	return s
}

// figures returns the numbers above the charts: of the last hour, and of now.
func figures(now reading, samples []sample) []figure {
	first, last := samples[0], samples[len(samples)-1]
	calls := 0.0
	for _, surface := range surfaces {
		calls += last.calls[surface] - first.calls[surface]
	}
	inHour := last.durations.since(first.durations)
	duration := func(q float64) string {
		if v := inHour.quantile(q); !math.IsNaN(v) {
			return milliseconds(v)
		}
		return "–"
	}
	before := samples[len(samples)-2]
	processor := "–"
	if seconds := last.at.Sub(before.at).Seconds(); seconds > 0 && len(samples) > 2 {
		processor = strconv.FormatFloat(math.Round(100*(last.cpu-before.cpu)/seconds), 'f', -1, 64) + " %"
	}
	connections := 0.0
	now.each("mailhelm_database_connections", func(labels map[string]string, n float64, _ *dto.Metric) {
		if labels["state"] == "in_use" {
			connections += n
		}
	})
	return []figure{
		{"Calls", count(calls)},
		{"Half faster than", duration(0.5)},
		{"99 of 100 faster than", duration(0.99)},
		{"Above a limit", count(last.refused - first.refused)},
		{"Failed", count(last.failed - first.failed)},
		{"Of a processor, now", processor},
		{"Memory, now", megabytes(last.resident)},
		{"Goroutines, now", count(now.sum("go_goroutines", nil))},
		{"Database connections, now", count(connections)},
	}
}
