// Package suppression decides which addresses not to mail. The sending account's own
// list is read live. The addresses that Mailhelm judges undeliverable from events are
// advice. The two lists are independent: an address removed from one stays on the other.
// The package neither adds to the account's list nor blocks a message.
//
// It owns the rules of judging, the judged entries and the exclusions by operators. The
// events belong to messages; a Suppression is one of their recorders.
package suppression
