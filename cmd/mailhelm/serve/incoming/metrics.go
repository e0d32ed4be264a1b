package incoming

import (
	"time"

	"github.com/mailhelm/mailhelm/core/inbound/processing"
	"github.com/mailhelm/mailhelm/core/inbound/spool"
	"github.com/prometheus/client_golang/prometheus"
)

// countAccepted registers the counter of messages that receivers passed on, and returns the
// function that counts.
func countAccepted(metrics prometheus.Registerer) func(spool.Outcome) {
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "mailhelm_received_messages_total",
		Help: "Messages to store, of all receivers, by outcome: accepted, interrupted, disk_failed, store_failed, queue_failed.",
	}, []string{"outcome"})
	metrics.MustRegister(counter)
	for _, o := range spool.Outcomes() {
		counter.WithLabelValues(string(o))
	}
	return func(o spool.Outcome) { counter.WithLabelValues(string(o)).Inc() }
}

// observeProcessed registers the metrics of processed messages, and returns the function that
// observes an attempt.
func observeProcessed(metrics prometheus.Registerer) func(o processing.Outcome, took, age time.Duration) {
	attempts := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "mailhelm_received_processing_seconds",
		Help:    "Duration of an attempt to process a received message, by outcome: processed, lost, failed.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
	}, []string{"outcome"})
	ages := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "mailhelm_received_delay_seconds",
		Help:    "Time from the reception of a message until it is processed.",
		Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600},
	})
	metrics.MustRegister(attempts, ages)
	for _, o := range processing.Outcomes() {
		attempts.WithLabelValues(string(o))
	}
	return func(o processing.Outcome, took, age time.Duration) {
		attempts.WithLabelValues(string(o)).Observe(took.Seconds())
		if o == processing.Processed {
			ages.Observe(age.Seconds())
		}
	}
}
