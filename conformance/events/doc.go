// Package events follows what happened to mail from where it comes in to everywhere
// that it is shown: records of every type that Amazon SES publishes, signed by a
// notification topic and posted with an event bus's key, and those that a simulated
// account publishes by itself after a send.
package events
