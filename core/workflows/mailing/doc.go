// Package mailing makes the messages of workflows and passes them to the sending account through
// package handover.
//
// The messages of one send step of a version are a send. A run waits at its send step until its
// message has an outcome, so that its steps stay in order when the account accepts messages more
// slowly than runs come.
package mailing
