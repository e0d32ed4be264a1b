// Package reports computes figures about sending: deliveries, engagement and templates over
// time, and warnings. Every event counts at the time at which its message was sent, so a
// window covers the messages sent in it. [Reports.ObserveEvents] counts whole days and hours
// as events are stored. The part of an hour at either edge of a window is counted from the
// events, so that a report is exact.
//
// The package stores no events and does not judge addresses.
package reports
