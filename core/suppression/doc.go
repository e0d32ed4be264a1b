// Package suppression is whom not to mail: the sending account's own list, which
// is read live, and the addresses that Mailhelm judges undeliverable from events,
// which is advice. Neither follows the other: what is taken off one list stays on
// the other, and nothing here adds to the account's list or keeps a message back.
//
// It owns the rules of judging, what is judged and what an operator excludes. The
// events themselves belong to messages; a Suppression is one of their recorders.
package suppression
