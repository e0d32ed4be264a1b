// Package bulk stores bulk writes with their rows and outcomes. It writes many contacts in
// one transaction, and keeps the queue of consent that has not yet reached the sending
// account.
//
// A write of a thousand contacts takes as many statements as a write of one: each passes
// its rows as one JSON parameter. One transaction changes the contact records, slots
// (indexed attribute values), list memberships, membership log and queue. The columns of
// contacts and their topic choices come from package storage/contacts.
package bulk
