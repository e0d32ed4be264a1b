// Package messages stores the messages that an account sent and the events that the provider
// reported about them. It accepts events in any order and any number of times, and explains
// what happened to a message and why.
//
// It sends nothing and does not decide which addresses are undeliverable. Packages that
// compute figures get every new event as a [Recorder].
package messages
