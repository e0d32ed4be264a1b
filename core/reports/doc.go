// Package reports is how sending went, in figures: deliveries, engagement and
// templates over time, and what of it needs attention. Whole UTC days are counted
// as their events are stored, by [Reports.Recorded]; the part of a day at either
// edge of a window is counted from the events, so that a report is correct to the
// event.
//
// It stores no event and judges no address.
package reports
