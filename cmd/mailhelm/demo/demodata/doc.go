// Package demodata fills an empty installation with an organization to try: Fernhill
// Coffee, an invented roaster with 500 invented customers. The organization has a simulated
// sending account and credentials of every kind.
//
// The people, their attributes and their choices are the same in every installation, so
// that examples can name them. Ids, secrets and dates differ. Every address is in
// example.com, example.org or example.net, which are reserved for examples (RFC 2606
// section 3).
//
// The package defines the data and the file that stores the credentials. Package provision
// creates organizations and keys, and package mailhistory the events of past mail. Package demo
// is the command `mailhelm demo`, which also starts a server. This package starts none, so its
// tests do not link the whole product.
package demodata
