// Package reports stores figures per day and hour, with the marks that keep an event from
// counting twice. Figures of the last hours are computed from the events of messages, which
// it reads and never writes.
package reports
