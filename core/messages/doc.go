// Package messages is what became of the mail that an account sent: one message
// for each that the provider took, and the events that the provider reported about
// it. It takes events in, whatever their order and however often they come, and
// answers what happened to a message and why.
//
// It sends nothing, and it does not decide whom not to mail; others who keep
// figures of their own are told of every new event as a [Recorder].
package messages
