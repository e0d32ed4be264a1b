// Package bulk stores bulk writes with their rows and outcomes, writes many contacts at once,
// and keeps the consent that has not yet reached the account.
//
// A write of a thousand contacts takes as many statements as a write of one: each passes
// its rows as one JSON parameter. In one transaction it changes records, slots,
// memberships, their log and pushes to the account. The columns of contacts and their
// choices are those of package contacts, on which this room stands.
package bulk
