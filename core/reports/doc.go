// Package reports computes statistics of sent mail: deliveries, engagement and templates
// over time, and warnings. Every event counts at the time at which its message was sent, so
// a window covers the messages sent in it. [Reports.ObserveEvents] updates counts per day
// and per hour when events are stored. A part of an hour at the edge of a window is counted
// from the stored events, so that a report is exact.
//
// The package stores no events and does not decide which addresses are undeliverable.
package reports
