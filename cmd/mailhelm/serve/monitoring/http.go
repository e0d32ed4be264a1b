package monitoring

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/prometheus/client_golang/prometheus"
)

// noRoute is the value of the label route for paths that no template matches.
const noRoute = ""

// statusClasses are the values of the label status, by the first digit of the status minus 2.
var statusClasses = [...]string{"2xx", "3xx", "4xx", "5xx"}

// statusCallerGone is the status for requests whose client left before the answer, as in the
// logs of nginx.
const statusCallerGone = 499

// Requests counts HTTP requests.
type Requests struct {
	count   *prometheus.CounterVec
	seconds *prometheus.HistogramVec
}

// NewRequests registers the metrics of HTTP requests.
func NewRequests(r prometheus.Registerer) *Requests {
	m := &Requests{
		count: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mailhelm_http_requests_total",
			Help: "Answered HTTP requests by host (api, app, mcp, fetch, asset), template of the path and class of the status. The route is empty for paths that do not exist.",
		}, []string{"host", "route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "mailhelm_http_request_seconds", Help: "Duration of HTTP requests until the answer was written, by host.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"host"}),
	}
	r.MustRegister(m.count, m.seconds)
	return m
}

// Count returns a handler that passes requests to next and counts them. host is the name of
// the service, and templates are the paths that it serves; see [routes].
func (m *Requests) Count(host string, templates []string, next http.Handler) http.Handler {
	known := newRoutes(templates)
	counters := map[string][len(statusClasses)]prometheus.Counter{}
	for _, template := range append(templates, noRoute) {
		var classes [len(statusClasses)]prometheus.Counter
		for i, class := range statusClasses {
			classes[i] = m.count.WithLabelValues(host, template, class)
		}
		counters[template] = classes
	}
	seconds := m.seconds.WithLabelValues(host)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := core.SystemClock()                                                      // requests take real time, whatever time a test has
		seen := &statusWriter{ResponseWriter: w, status: http.StatusInternalServerError} // of a panic
		defer func() {
			if !seen.wrote && r.Context().Err() != nil {
				seen.status = statusCallerGone
			}
			counters[known.find(r.URL.EscapedPath())][classOf(seen.status)].Inc()
			seconds.Observe(core.SystemClock().Sub(began).Seconds())
		}()
		next.ServeHTTP(seen, r)
		if !seen.wrote {
			seen.status = http.StatusOK // as net/http then answers
		}
	})
}

// classOf returns the index of the status in statusClasses.
func classOf(status int) int { return min(max(status/100-2, 0), len(statusClasses)-1) }

// statusWriter is a response writer that keeps the status.
type statusWriter struct {
	http.ResponseWriter
	status int
	wrote  bool
}

// WriteHeader implements [http.ResponseWriter]. Informational answers precede the status.
func (w *statusWriter) WriteHeader(status int) {
	if !w.wrote && status >= http.StatusOK {
		w.status, w.wrote = status, true
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *statusWriter) Write(body []byte) (int, error) {
	if !w.wrote {
		w.status, w.wrote = http.StatusOK, true
	}
	return w.ResponseWriter.Write(body)
}

// Flush implements [http.Flusher], which streams of events need.
func (w *statusWriter) Flush() {
	_ = http.NewResponseController(w.ResponseWriter).Flush() // a writer that cannot flush buffers nothing
}

// Unwrap returns the wrapped writer, for [http.ResponseController].
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
