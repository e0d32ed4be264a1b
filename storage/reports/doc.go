// Package reports stores report figures per day and per hour. It also stores marks of
// counted opens and clicks, so that unique opens and clicks can be counted. Figures of the
// last hours are computed from the events of messages; the package reads these but does not
// write them.
package reports
