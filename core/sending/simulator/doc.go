// Package simulator is a sending account without a provider: the default one, to
// develop and to test against. It answers for what the port
// [github.com/mailhelm/mailhelm/core/sending.Account] asks; it neither sends nor
// emits events, and it never opens a network connection.
//
// # What it imitates
//
// Amazon SES v2 as far as the port shows it: an account in the sandbox with its
// quotas until production access is set, identities with their verification,
// configuration sets, and one contact list with at most 50 topics. Addresses are
// matched without regard to case and keep the spelling they were first stored
// with. A preference for a topic that the list does not have is refused, and so
// is a malformed address (both [sending.Invalid]). An organization that was
// never set up with [Simulator.Seed] has no account: every call is
// [sending.NotConnected].
//
// # What it does not
//
// Rate limits, quotas and verification are told, not enforced: nothing is sent
// that they could hold back. SES takes 20 topics where this takes 50. Control
// calls of SES are slow and throttled; here they are fast unless [Faults] says
// otherwise.
//
// # State
//
// The state is one SQLite file for all organizations. What was acknowledged
// survives the process being killed. A power cut may take the last moments with
// it but never leaves half a write. Two processes may have the file open at
// once, so nothing of it is kept in memory.
package simulator
