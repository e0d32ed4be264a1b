package serve

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/monitoring"
	"github.com/mailhelm/mailhelm/core/goldentest"
)

var update = flag.Bool("update", false, "write the guide to metrics")

// metricsGuide is the guide with the reference of metrics, which TestGoldenMetricsGuide writes.
var metricsGuide = filepath.Join("..", "..", "..", "rest", "docs", "guides", "metrics.md")

// startWithAllMetrics starts a server that has all optional parts with metrics: Redis and the
// scanners of received mail, none of which answers. The test stops it.
func startWithAllMetrics(t *testing.T) *Host {
	t.Helper()
	cfg := testConfig(t)
	cfg.RedisURL, cfg.RspamdURL, cfg.Clamd = "redis://127.0.0.1:1/0", "http://127.0.0.1:1", "127.0.0.1:1"
	h := running(t, cfg)
	t.Cleanup(func() { stop(t, h) })
	return h
}

// TestSeriesExistFromTheStart checks that a server shows each metric before its first call,
// except those by operation.
func TestSeriesExistFromTheStart(t *testing.T) {
	t.Parallel()
	h := startWithAllMetrics(t)
	all := described(t, h)
	if len(all) < 40 {
		t.Fatalf("%d metrics", len(all))
	}
	shown := map[string]bool{}
	families, err := h.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		shown[f.GetName()] = len(f.GetMetric()) > 0
	}
	known := shown
	for _, m := range all {
		if !shown[m.Name] && !slices.Contains(m.Labels, "operation") {
			t.Errorf("%s has no series", m.Name)
		}
		known[m.Name] = true
	}
	for name := range overviewMetrics(t) {
		if !known[name] {
			t.Errorf("the overview page reads %s, which does not exist", name)
		}
	}
}

// overviewMetrics returns the names of metrics in the sources of the overview page.
func overviewMetrics(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("monitoring/overview/*.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`"((?:mailhelm|process|go)_[a-z_]+)"`).FindAllSubmatch(source, -1) {
			names[string(name[1])] = true
		}
	}
	if len(names) < 10 {
		t.Fatalf("metrics of the overview page: %v", names)
	}
	return names
}

// TestGoldenMetricsGuide compares the reference of metrics in the guide with the registered
// metrics. The names must not change, because dashboards and alerts of operators use them.
func TestGoldenMetricsGuide(t *testing.T) {
	t.Parallel()
	want := metricsPage(described(t, startWithAllMetrics(t)), shippedAlerts(t))
	if *update {
		if err := goldentest.Write(metricsGuide, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(metricsGuide); err != nil || string(got) != want {
		t.Errorf("%v, or %s is out of date: run the test with -update", err, metricsGuide)
	}
}

// metricsPage returns the guide.
func metricsPage(metrics []monitoring.Metric, alerts []alert) string {
	var b strings.Builder
	b.WriteString(`---
title: Look up metrics and alerts
group: Operation
order: 52
minutes: 5
summary: The names, labels and meanings of all metrics of a server, and the alerts that are shipped with it.
---

{{/* Written by "make generate". Change the code that registers the metrics, or the file of alerts. */}}
[Monitor a server](/guides/observability) says how to read the metrics and how to use the alerts and the dashboard.

## Metrics

Metrics with the label operation show an operation after its first call. All others exist from the start. Metrics of rate limit fallbacks need ` + "`--redis-url`" + `, and those of scans a scanner. A process with the role api does not show runs of jobs, and one with the role worker shows no requests.

Metrics that name the whole database are the same in each process, so use ` + "`max`" + `. Other counters are of one process and begin at zero when it starts: read them with ` + "`rate`" + ` or ` + "`increase`" + `, and add them over processes with ` + "`sum`" + `.

| Name | Labels | Meaning |
|---|---|---|
`)
	for _, m := range metrics {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", m.Name, strings.Join(m.Labels, ", "), m.Help)
	}
	b.WriteString("\nThe surface is `agent`, `rest` or `dashboard`. The outcome of a call or a request is an [error code](/api/errors), or one of the words in the table. " +
		"Unknown names that callers send never become labels, so the number of series is bounded.\n")
	b.WriteString("\nMetrics that begin with `go_` and `process_` are about the Go runtime and the process.\n")
	b.WriteString(`
## Alerts

The alerts are those of the file ` + "`prometheus-alerts.yml`" + ` of a release.

| Name | Severity | Condition | Meaning |
|---|---|---|---|
`)
	for _, a := range alerts {
		condition := "`" + strings.ReplaceAll(a.Expr, "|", `\|`) + "`"
		if a.For != "" {
			condition += " for " + a.For
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s %s |\n", a.Alert, a.Labels["severity"], condition, a.Annotations["summary"], a.Annotations["description"])
	}
	return b.String()
}
