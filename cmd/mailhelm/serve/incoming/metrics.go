package incoming

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/processing"
	"github.com/mailhelm/mailhelm/core/inbound/spool"
	"github.com/prometheus/client_golang/prometheus"
)

// backlogTime bounds the query for the backlog, so that a scrape gets the other metrics when the
// database does not answer.
const backlogTime = 2 * time.Second

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

// backlog reads the metrics of the queue from the database when they are scraped.
type backlog struct {
	queue  inbound.Queue
	clock  core.Clock
	log    *slog.Logger
	number *prometheus.Desc
	oldest *prometheus.Desc
}

func newBacklog(queue inbound.Queue, clock core.Clock, log *slog.Logger) *backlog {
	return &backlog{
		queue, clock, log,
		prometheus.NewDesc("mailhelm_received_backlog", "Received messages that wait to be processed, of all processes on the database.", nil, nil),
		prometheus.NewDesc("mailhelm_received_oldest_seconds", "Time since the oldest of these messages was received; 0 if none waits.", nil, nil),
	}
}

// Describe implements [prometheus.Collector].
func (b *backlog) Describe(all chan<- *prometheus.Desc) {
	all <- b.number
	all <- b.oldest
}

// Collect implements [prometheus.Collector]. It has no values if the database does not answer.
func (b *backlog) Collect(all chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(core.WithLane(context.Background(), core.Background), backlogTime)
	defer cancel()
	n, oldest, err := b.queue.Backlog(ctx)
	if err != nil {
		b.log.WarnContext(ctx, "the metrics have no backlog of received mail", "error", err)
		return
	}
	age := 0.0
	if n > 0 {
		age = max(0, b.clock().Sub(oldest).Seconds())
	}
	all <- prometheus.MustNewConstMetric(b.number, prometheus.GaugeValue, float64(n))
	all <- prometheus.MustNewConstMetric(b.oldest, prometheus.GaugeValue, age)
}
