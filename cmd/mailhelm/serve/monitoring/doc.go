// Package monitoring shows the state of a server at the admin address: /metrics, /readyz and
// /livez. It has the metrics that belong to no domain: HTTP requests, jobs, connection pools,
// processes, and the figures of the whole database. Domains register their own metrics.
//
// Every series whose labels have a bounded number of values exists from the start. So a rate
// or an increase also counts the first event.
package monitoring
