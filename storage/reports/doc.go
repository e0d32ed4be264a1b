// Package reports stores report figures per day and per hour. It also stores marks, which
// prevent an event from being counted twice. Figures of the last hours are computed from
// the events of messages; the package reads these but does not write them.
package reports
