// Package simulator is a sending account without a provider: the default one, to
// develop and to test against. It answers for what the port
// [github.com/mailhelm/mailhelm/core/sending.Account] asks, keeps what would have
// become of every message, and never opens a network connection. Below it, wire
// answers the provider's REST from the same engine, and notify posts its events.
//
// # What it imitates
//
// Amazon SES v2 as far as the port shows it: an account in the sandbox with its
// quotas until production access is granted (see [Simulator.SetReview]),
// identities with their verification and DKIM tokens, configuration sets, one
// contact list with at most 50 topics, the account's suppression list, and
// templates. Addresses are matched without regard to case and keep the spelling
// they were first stored with. A preference for a topic that the list does not
// have is refused, and so is a malformed address (both [sending.Invalid]). An
// organization that was never set up with [Simulator.Seed] has no account: every
// call is [sending.NotConnected].
//
// Sending has the provider's rules, see [Simulator.Send]: the rate of a second, the
// quota of 24 hours, verified senders, in the sandbox verified recipients too. The
// mailbox simulator's addresses (success@, bounce@, complaint@, ooto@ and
// suppressionlist@simulator.amazonses.com, with +labels) do as they are called.
// Three labels say more, which the provider ignores: bounce+transient@ and
// bounce+undetermined@ are bounces of these kinds, success+delay@ is delivered
// late, with an event about the delay. What other recipients do is [Behaviour]. An
// address that bounces for good or complains goes on the suppression list, when the
// message's configuration set has the reason in its policy; one that is on it gets
// nothing, under the same condition, and the message ends as a bounce or, where
// that is the reason, a complaint of the kind OnAccountSuppressionList.
//
// What became of a message is told by event records in the provider's JSON, which
// wait in the [Outbox] until their time. The same seed, clock and calls give the
// same records, byte for byte.
//
// # What it does not
//
// No mail is made and none is kept: of the content, only the subject is in the
// records. Template blocks are not rendered, see [Render]. Every configuration set
// publishes all its events to one outbox; there are no event destinations. Nothing
// is ever resent after it bounced, and reputation has no consequences. Bounces are
// permanent unless [Behaviour] or a label says otherwise.
// Account-wide settings for suppression are the provider's default, bounces and
// complaints. Verification is what Seed says; nothing looks at DNS. SES takes 20
// topics where this takes 50. Control calls of SES are slow and throttled; here
// they are fast unless [Faults] says otherwise.
//
// # State
//
// The state is one SQLite file for all organizations. What was acknowledged
// survives the process being killed. A power cut may take the last moments with
// it but never leaves half a write. Two processes may have the file open at
// once, so nothing of it is kept in memory. A file of an older version is brought
// up to date when it is opened.
package simulator
