// Package usage counts what OAuth clients do at the agent endpoint: calls by client, person,
// operation and UTC day. The counts answer the question which assistant did what, including
// reads, which are not in the audit log.
//
// A [Counter] counts in memory and adds to the store every few seconds, so that a call
// never waits for a write. Counts of the last seconds are lost if the process crashes.
package usage
