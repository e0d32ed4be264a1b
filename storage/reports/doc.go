// Package reports stores figures per day and hour, with the marks that prevent an event
// from counting twice. Figures of the last hours are computed from the events of
// messages, which the package only reads.
package reports
