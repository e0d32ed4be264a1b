// Package overview is the page at the root of the admin address: how a process is doing now,
// and how it did in the last hour. It is for operators who have no Prometheus yet, or who look
// before they open it.
//
// The page shows nothing that /metrics does not show. A [History] reads the metrics of the
// process every 30 seconds and keeps the figures of an hour in memory. So the charts of a
// process that has just started are empty.
//
// Like all of the admin address, the page asks for no credential. It runs no script and loads
// nothing.
package overview
