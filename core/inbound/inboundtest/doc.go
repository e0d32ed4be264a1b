// Package inboundtest has hostile messages: what attackers and broken programs send to make
// a receiver crash, use up memory or time, or display something false.
//
// [Hostile] returns them with what reading them must find. Large messages are generated
// while they are read.
package inboundtest
