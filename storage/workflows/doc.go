// Package workflows stores workflows, their versions, their runs with timelines, the triggers
// that have happened, and the messages of runs. The recipients of messages are in the table of
// package handover.
package workflows
