// Package dispatch drives broadcasts: it starts those whose time has come, passes their
// messages to sending accounts through package handover, and ends them. It also corrects the
// counts of ended broadcasts by late events.
//
// Package broadcasts has the records, the operations, and how a message is made.
package dispatch
