// Package messages stores the messages that a sending account sent and the events that the
// provider reported about them. It accepts events in any order and any number of times. It
// explains what happened to a message and why.
//
// The package sends no mail and does not decide which addresses are undeliverable. Packages
// that compute statistics from events implement [Recorder].
package messages
