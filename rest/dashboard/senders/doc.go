// Package senders has the dashboard pages on which a member verifies mailboxes: the list of
// the member's own claims, and the page of one claim with the form for the mailed code.
//
// The pages call the operations of core/senders as the visitor. They show nothing of other
// members.
package senders
