// Package inboxes has temporary inboxes: addresses at one domain that receive mail for a
// minute up to an hour. Callers wait for the mail with a long poll. Then everything that was
// received is deleted.
//
// Mail comes from package inbound: [Router] finds the inbox of a recipient, [Destination]
// stores the message. An inbox can be read by its organization ([Inboxes]) and, without a
// credential, by pull links. [Waiting] wakes the polls that wait.
//
// An inbox that expired or was deleted accepts no mail and shows none. A job deletes its
// messages and their objects within a minute; see [Inboxes.PurgeWorker]. The row of the inbox
// and the hashes of its pull links stay for 30 days, so that the answers about it stay the
// same, and mail to its address is dropped and not refused.
package inboxes
