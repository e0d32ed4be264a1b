// Package ses reaches a customer's account at Amazon SES through its v2 API.
//
// An [Account] is one organization's: the organization that a call of the port
// names was looked at when the account was opened, and is not looked at again.
// [Open] is what cmd hands to [sending.NewAccounts].
//
// It keeps nothing but the account's id, the name of its contact list and its
// send rate, each for minutes. Credentials come from the connection alone, never
// from the machine unless cmd hands those in.
//
// A read, and a write that may be repeated, is tried twice; a message is handed
// over once, because a second try after an unknown outcome would be a second
// message. Nobody above tries again by themselves, but for the queue of a
// broadcast, which knows which kinds of failure had no effect.
package ses
