// Package demo fills an empty installation with an organization to try things
// on: Fernhill Coffee, an invented roaster with 500 invented customers, its
// simulated sending account and credentials of every kind.
//
// The people, their attributes and their choices are the same in every
// installation, so that examples can name them; ids, secrets and dates are not.
// Every address is in example.com, example.org or example.net, which belong to
// nobody (RFC 2606 section 3).
//
// It owns the data and the file that remembers the credentials. How an
// organization or a key is made is package admin's business.
package demo
