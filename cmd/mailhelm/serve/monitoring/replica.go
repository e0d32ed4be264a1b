package monitoring

import (
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/prometheus/client_golang/prometheus"
)

// replica is a collector of the figures of the replica of the database.
type replica struct {
	stats                 func() (engine.ReplicaStats, bool)
	reads, fallbacks, lag *prometheus.Desc
}

// showReplica registers the metrics of the replica. Without a replica they are 0.
func showReplica(r prometheus.Registerer, stats func() (engine.ReplicaStats, bool)) {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("mailhelm_database_replica_"+name, help, labels, nil)
	}
	r.MustRegister(replica{
		stats:     stats,
		reads:     desc("reads_total", "Calls that the replica of the database answered."),
		fallbacks: desc("fallbacks_total", "Calls that read from the database itself instead of the replica, by reason: lag, unreachable, promoted, own_writes (the replica did not have the writes of this process in time) or failed (during the read).", "reason"),
		lag:       desc("lag_seconds", "How old the data of the replica may be now; 0 without a replica."),
	})
}

// Describe implements [prometheus.Collector].
func (c replica) Describe(all chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.reads, c.fallbacks, c.lag} {
		all <- d
	}
}

// Collect implements [prometheus.Collector].
func (c replica) Collect(all chan<- prometheus.Metric) {
	s, _ := c.stats()
	all <- prometheus.MustNewConstMetric(c.reads, prometheus.CounterValue, float64(s.Reads))
	for _, why := range engine.ReplicaReasons() {
		all <- prometheus.MustNewConstMetric(c.fallbacks, prometheus.CounterValue, float64(s.Fallbacks[why]), string(why))
	}
	all <- prometheus.MustNewConstMetric(c.lag, prometheus.GaugeValue, s.Lag.Seconds())
}
