// Package replay stores call results by idempotency key (replay records), used confirmation
// tokens, and heartbeats of server processes.
package replay
