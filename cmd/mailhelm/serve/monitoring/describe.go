package monitoring

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Metric describes a registered metric.
type Metric struct {
	Name, Help string
	// Labels are the names of the labels, sorted.
	Labels []string
}

// description matches the text of a description, the only place with its parts.
var description = regexp.MustCompile(`^Desc\{fqName: ("(?:[^"\\]|\\.)*"), help: ("(?:[^"\\]|\\.)*"), (?:unit: "[^"]*", )?constLabels: \{(.*)\}, variableLabels: \{(.*)\}\}$`)

// constLabel matches the name of a constant label.
var constLabel = regexp.MustCompile(`(\w+)="`)

// Describe returns the registered metrics of Mailhelm, sorted by name. Those of the Go runtime
// and the process, which have standard names, are left out. It fails for a metric whose
// description has an unknown form.
func Describe(r *prometheus.Registry) ([]Metric, error) {
	all := make(chan *prometheus.Desc)
	go func() {
		r.Describe(all)
		close(all)
	}()
	byName := map[string]Metric{}
	var failed error
	for d := range all {
		m, err := parseDescription(d.String())
		if err != nil {
			failed = err
		}
		if strings.HasPrefix(m.Name, "mailhelm_") {
			byName[m.Name] = m
		}
	}
	metrics := make([]Metric, 0, len(byName))
	for _, m := range byName {
		metrics = append(metrics, m)
	}
	slices.SortFunc(metrics, func(a, b Metric) int { return strings.Compare(a.Name, b.Name) })
	return metrics, failed
}

func parseDescription(text string) (Metric, error) {
	parts := description.FindStringSubmatch(text)
	if parts == nil {
		return Metric{}, fmt.Errorf("the description of a metric has an unknown form: %s", text)
	}
	var m Metric
	if _, err := fmt.Sscanf(parts[1]+" "+parts[2], "%q %q", &m.Name, &m.Help); err != nil {
		return Metric{}, fmt.Errorf("%s: %w", text, err)
	}
	for _, label := range constLabel.FindAllStringSubmatch(parts[3], -1) {
		m.Labels = append(m.Labels, label[1])
	}
	for label := range strings.SplitSeq(parts[4], ",") {
		if label != "" {
			m.Labels = append(m.Labels, label)
		}
	}
	slices.Sort(m.Labels)
	return m, nil
}
