// Package reports is how sending went, in figures: deliveries, engagement and
// templates over time, and what of it needs attention. Every event counts at the
// moment in which its message was sent, so a window is about the messages sent in it.
// Days and hours are counted as events are stored, by [Reports.Recorded]; the part of
// an hour at either edge of a window is counted from the events, so that a report is
// correct to the event.
//
// It stores no event and judges no address.
package reports
