// Package suppression has two lists of addresses that should not get mail. The suppression
// list of the sending account is read from the account on each call, or from a cache of one
// minute. The list of undeliverable addresses is computed from bounces, complaints and
// rejects, and is only advice. The two lists are independent: removing an address from one
// does not remove it from the other. The package does not add to the account's list and
// does not block messages.
//
// It owns the rules that make an address undeliverable, the entries of that list, and the
// exclusions by operators. Package messages stores the events; a Suppression is a
// [messages.Recorder].
package suppression
