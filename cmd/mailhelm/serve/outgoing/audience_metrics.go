package outgoing

import "github.com/prometheus/client_golang/prometheus"

// CountAudience registers counters for background work on contacts. It returns a function
// that adds n to the counter whose name is in the parameter what. That function does
// nothing if the name is unknown or n is below 1. The parameter outcome is the value of a
// label and must have few different values, because each value adds a time series. Call
// CountAudience once for each registry, because a second registration panics.
func CountAudience(r prometheus.Registerer) func(what, outcome string, n int) {
	counters := map[string]*prometheus.CounterVec{
		"bulk_row": prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mailhelm_bulk_rows_total",
			Help: "Processed rows of bulk writes of contacts, by outcome: stored, failed.",
		}, []string{"outcome"}),
		"contact_push": prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mailhelm_contact_pushes_total",
			Help: "Contacts whose consent was sent to a sending account, by outcome: settled, refused, put_off.",
		}, []string{"outcome"}),
	}
	for what, outcomes := range map[string][]string{"bulk_row": {"stored", "failed"}, "contact_push": {"settled", "refused", "put_off"}} {
		r.MustRegister(counters[what])
		for _, outcome := range outcomes {
			counters[what].WithLabelValues(outcome)
		}
	}
	return func(what, outcome string, n int) {
		if counter := counters[what]; counter != nil && n > 0 {
			counter.WithLabelValues(outcome).Add(float64(n))
		}
	}
}
