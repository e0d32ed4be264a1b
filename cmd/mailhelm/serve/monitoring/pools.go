package monitoring

import (
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/prometheus/client_golang/prometheus"
)

// pools shows the connection pools of this process.
type pools struct {
	stats                                               func() []engine.PoolStats
	connections, limit, waiting, waits, waited, refused *prometheus.Desc
}

// showPools registers the metrics of the connection pools.
func showPools(r prometheus.Registerer, stats func() []engine.PoolStats) {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("mailhelm_database_"+name, help, append([]string{"pool"}, labels...), nil)
	}
	r.MustRegister(pools{
		stats:       stats,
		connections: desc("connections", "Open connections of this process to the database, by pool and state: in_use or idle. Pools are write and read on SQLite, main, jobs and replica on PostgreSQL, and expensive on both.", "state"),
		limit:       desc("connections_limit", "Largest number of connections of the pool."),
		waiting:     desc("waiting", "Calls and jobs that wait for a connection of the pool."),
		waits:       desc("waits_total", "Calls and jobs that had to wait for a connection of the pool."),
		waited:      desc("wait_seconds_total", "Sum of the times that calls and jobs waited for a connection of the pool."),
		refused:     desc("refused_total", "Calls that got no connection of the pool in time, or whose caller left."),
	})
}

// Describe implements [prometheus.Collector].
func (p pools) Describe(all chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{p.connections, p.limit, p.waiting, p.waits, p.waited, p.refused} {
		all <- d
	}
}

// Collect implements [prometheus.Collector].
func (p pools) Collect(all chan<- prometheus.Metric) {
	for _, s := range p.stats() {
		gauge := func(d *prometheus.Desc, value int, labels ...string) {
			all <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(value), append([]string{s.Name}, labels...)...)
		}
		counter := func(d *prometheus.Desc, value float64) {
			all <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, value, s.Name)
		}
		gauge(p.connections, s.InUse, "in_use")
		gauge(p.connections, s.Idle, "idle")
		gauge(p.limit, s.Limit)
		gauge(p.waiting, s.Waiting)
		counter(p.waits, float64(s.Waits))
		counter(p.waited, s.Waited.Seconds())
		counter(p.refused, float64(s.Refused))
	}
}

// showProcesses registers the number of running processes. alive returns it by role, with ""
// for processes of earlier versions.
func showProcesses(r prometheus.Registerer, alive func() map[string]int) {
	const name, help = "mailhelm_processes",
		"Running processes on the database by role: all, api, worker, and unknown for those of an earlier version. The roles all and worker run jobs."
	for _, role := range []string{string(config.All), string(config.API), string(config.Worker), ""} {
		label := role
		if role == "" {
			label = "unknown"
		}
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: name, Help: help, ConstLabels: prometheus.Labels{"role": label},
		}, func() float64 { return float64(alive()[role]) }))
	}
}
