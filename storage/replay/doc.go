// Package replay stores replay records, spent confirmations and the heartbeats of processes.
package replay
