package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/monitoring"
	"go.yaml.in/yaml/v3"
)

// alert is a rule of the shipped file of alerts.
type alert struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

// shipped returns a file of a release.
func shipped(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "packaging", "files", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// described returns the registered metrics.
func described(t *testing.T, h *Host) []monitoring.Metric {
	t.Helper()
	all, err := monitoring.Describe(h.metrics)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func shippedAlerts(t *testing.T) []alert {
	t.Helper()
	var file struct {
		Groups []struct{ Rules []alert }
	}
	if err := yaml.Unmarshal(shipped(t, "prometheus-alerts.yml"), &file); err != nil || len(file.Groups) != 1 {
		t.Fatalf("%d groups, %v", len(file.Groups), err)
	}
	return file.Groups[0].Rules
}

// shippedExpressions returns the expressions of the shipped alerts and of the shipped
// dashboard, by the name of the alert or the title of the panel.
func shippedExpressions(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, a := range shippedAlerts(t) {
		all[a.Alert] = a.Expr
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(shipped(t, "grafana-dashboard.json"), &dashboard); err != nil {
		t.Fatal(err)
	}
	for _, p := range dashboard.Panels {
		for i, target := range p.Targets {
			all[fmt.Sprintf("%s %d", p.Title, i)] = strings.ReplaceAll(target.Expr, "$__rate_interval", "5m")
		}
	}
	return all
}

var (
	selector = regexp.MustCompile(`\b((?:mailhelm|process|go)_[a-z_0-9]+|up)\b(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`(\w+)(=~|!~|=|!=)"([^"]*)"`)
	grouping = regexp.MustCompile(`\bby \(([^)]*)\)`)
)

// ofScrape are labels that Prometheus adds to each series.
var ofScrape = []string{"job", "instance"}

// TestShippedMetricsExist checks that each metric, label and value of a label that the shipped
// alerts and the shipped dashboard name exists in what a server shows before its first call.
// Metrics by operation have no series then, so only their labels are checked.
func TestShippedMetricsExist(t *testing.T) {
	t.Parallel()
	known := knownSeries(t, startWithAllMetrics(t))
	expressions := shippedExpressions(t)
	if len(expressions) < 40 {
		t.Errorf("only %d expressions", len(expressions))
	}
	for name, expression := range expressions {
		if err := known.check(expression); err != nil {
			t.Errorf("%s: %s: %v", name, expression, err)
		}
	}
	for _, wrong := range []string{
		"mailhelm_nothing", `mailhelm_processes{part="all"}`, `mailhelm_processes{role="boss"}`, `sum by (role) (mailhelm_jobs)`, `mailhelm_processes{role=~"all|boss"}`, `mailhelm_processes_bucket`,
	} {
		if known.check(wrong) == nil {
			t.Errorf("%s: the test finds no mistake", wrong)
		}
	}
}

// series has the values of each label, by the name of the metric and the name of the label.
type series map[string]map[string]map[string]bool

// knownSeries returns all series that the server shows, and the labels of metrics without one.
func knownSeries(t *testing.T, h *Host) series {
	t.Helper()
	families, err := h.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	known := series{}
	for _, f := range families {
		names := []string{f.GetName()}
		if f.GetType().String() == "HISTOGRAM" {
			names = []string{f.GetName() + "_bucket", f.GetName() + "_sum", f.GetName() + "_count"}
		}
		for _, name := range names {
			known[name] = map[string]map[string]bool{}
			if strings.HasSuffix(name, "_bucket") {
				known[name]["le"] = nil
			}
			for _, m := range f.GetMetric() {
				for _, l := range m.GetLabel() {
					if known[name][l.GetName()] == nil {
						known[name][l.GetName()] = map[string]bool{}
					}
					known[name][l.GetName()][l.GetValue()] = true
				}
			}
		}
	}
	known.addDescribed(t, h)
	return known
}

// addDescribed adds the metrics that have no series yet.
func (known series) addDescribed(t *testing.T, h *Host) {
	t.Helper()
	for _, m := range described(t, h) {
		for _, suffix := range []string{"", "_bucket"} {
			if !slices.Contains(m.Labels, "operation") || known[m.Name+suffix] != nil {
				continue
			}
			known[m.Name+suffix] = map[string]map[string]bool{"le": nil}
			for _, label := range m.Labels {
				known[m.Name+suffix][label] = nil
			}
		}
	}
}

// check returns an error if the expression names a metric, a label or a value that is unknown.
func (known series) check(expression string) error {
	labels := map[string]bool{}
	for _, found := range selector.FindAllStringSubmatch(matcher.ReplaceAllStringFunc(expression, strings.ToLower), -1) {
		name, conditions := found[1], found[2]
		if name == "up" {
			continue
		}
		metric, exists := known[name]
		if !exists {
			return errors.New("there is no metric " + name)
		}
		maps.Copy(labels, keysOf(metric))
		for _, m := range matcher.FindAllStringSubmatch(conditions, -1) {
			if slices.Contains(ofScrape, m[1]) {
				continue
			}
			values, has := metric[m[1]]
			if !has {
				return errors.New(name + " has no label " + m[1])
			}
			for value := range strings.SplitSeq(m[3], "|") {
				if values != nil && !values[value] {
					return errors.New(name + " has no series with " + m[1] + `="` + value + `"`)
				}
			}
		}
	}
	for _, g := range grouping.FindAllStringSubmatch(expression, -1) {
		for label := range strings.SplitSeq(g[1], ", ") {
			if !labels[label] && !slices.Contains(ofScrape, label) {
				return errors.New("no metric of the expression has the label " + label)
			}
		}
	}
	return nil
}

func keysOf(metric map[string]map[string]bool) map[string]bool {
	keys := map[string]bool{}
	for label := range metric {
		keys[label] = true
	}
	return keys
}
