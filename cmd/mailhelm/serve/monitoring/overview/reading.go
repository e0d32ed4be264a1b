package overview

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// reading has the metrics of the process at one time.
type reading struct {
	at       time.Time
	families map[string]*dto.MetricFamily
}

// read reads all metrics. Metrics whose collector failed are left out, as in /metrics.
func read(from prometheus.Gatherer, now time.Time) reading {
	families, _ := from.Gather() // with an error it still returns the other metrics
	r := reading{at: now, families: make(map[string]*dto.MetricFamily, len(families))}
	for _, f := range families {
		r.families[f.GetName()] = f
	}
	return r
}

// each calls f with every metric of a name: its labels, and its value if it is a counter or a
// gauge.
func (r reading) each(name string, f func(labels map[string]string, value float64, m *dto.Metric)) {
	for _, m := range r.families[name].GetMetric() {
		labels := make(map[string]string, len(m.GetLabel()))
		for _, l := range m.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		f(labels, m.GetCounter().GetValue()+m.GetGauge().GetValue(), m)
	}
}

// sum returns the sum of the metrics of a name for which keep returns true; nil keeps all.
func (r reading) sum(name string, keep func(labels map[string]string) bool) float64 {
	total := 0.0
	r.each(name, func(labels map[string]string, value float64, _ *dto.Metric) {
		if keep == nil || keep(labels) {
			total += value
		}
	})
	return total
}

// label returns the value of a label of the only metric of a name.
func (r reading) label(name, label string) (value string) {
	r.each(name, func(labels map[string]string, _ float64, _ *dto.Metric) { value = labels[label] })
	return value
}

// buckets are the cumulative counts of a histogram by the upper bound of each bucket, sorted.
type buckets struct{ bounds, counts []float64 }

// histogram returns the sum of the histograms of a name, which all have the same bounds.
func (r reading) histogram(name string) buckets {
	var b buckets
	r.each(name, func(_ map[string]string, _ float64, m *dto.Metric) {
		h := m.GetHistogram()
		for i, bucket := range h.GetBucket() {
			if i == len(b.bounds) {
				b.bounds, b.counts = append(b.bounds, bucket.GetUpperBound()), append(b.counts, 0)
			}
			b.counts[i] += float64(bucket.GetCumulativeCount())
		}
		last := len(h.GetBucket())
		if last == len(b.bounds) {
			b.bounds, b.counts = append(b.bounds, math.Inf(1)), append(b.counts, 0)
		}
		b.counts[last] += float64(h.GetSampleCount())
	})
	return b
}

// since returns the counts that were added after an earlier reading of the histogram.
func (b buckets) since(earlier buckets) buckets {
	added := buckets{bounds: b.bounds, counts: make([]float64, len(b.counts))}
	for i, n := range b.counts {
		if i < len(earlier.counts) {
			n -= earlier.counts[i]
		}
		added.counts[i] = n
	}
	return added
}

// quantile estimates the value below which the share q of all values lies, as Prometheus does:
// it supposes that values are spread evenly within a bucket, and returns the highest finite
// bound for values above it. Without values the result is not a number.
func (b buckets) quantile(q float64) float64 {
	if len(b.counts) == 0 || b.counts[len(b.counts)-1] == 0 {
		return math.NaN()
	}
	rank := q * b.counts[len(b.counts)-1]
	lower, below := 0.0, 0.0
	for i, upper := range b.bounds {
		if b.counts[i] >= rank && !math.IsInf(upper, 1) {
			return lower + (upper-lower)*(rank-below)/(b.counts[i]-below)
		}
		if !math.IsInf(upper, 1) {
			lower = upper
		}
		below = b.counts[i]
	}
	return lower
}
