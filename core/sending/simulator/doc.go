// Package simulator is the default sending account, for development and tests. It calls no
// provider and opens no network connection. It implements
// [github.com/mailhelm/mailhelm/core/sending.Account] and generates the events of every
// message. Package notify, in a subdirectory, posts these events. For tests,
// conformance/sending/wire serves the REST API of SES with this simulator.
//
// # What it imitates
//
// It imitates Amazon SES v2, for the methods of package sending. The account is in the
// sandbox with its quotas until production access is granted (see [Simulator.SetReview]).
// It has identities with their verification and DKIM tokens, configuration sets, one
// contact list with at most 50 topics, a suppression list, and templates.
//
// Addresses are compared without regard to case and keep their first spelling. A preference
// for an unknown topic and a malformed address fail with [sending.Invalid]. An organization
// has no account before [Simulator.Seed]: every call fails with [sending.NotConnected].
//
// Sending has the rules of SES, see [Simulator.Send]: the rate per second, the quota of 24
// hours, verified senders, and verified recipients in the sandbox. The addresses of the SES
// mailbox simulator (success@, bounce@, complaint@, ooto@ and
// suppressionlist@simulator.amazonses.com, with +labels) behave as at SES. Three labels
// have a meaning only here. bounce+transient@ and bounce+undetermined@ cause bounces of
// these types. success+delay@ is delivered late, after a delay event. [Behaviour]
// determines the events of other recipients.
//
// A permanent bounce or a complaint adds the address to the suppression list, if the policy
// of the message's configuration set includes the reason. A message to an address that is
// suppressed for a reason of the policy is not delivered. It gets a bounce or complaint
// event with the subtype OnAccountSuppressionList.
//
// Events are records in the JSON format of SES. They wait in the [Outbox] until their time.
// Equal seed, clock and calls give equal records, byte for byte.
//
// # What it does not imitate
//
// No mail is generated: of the content, the records have only the subject. The newest
// messages are kept with their content, so that a person can read them, see
// [Simulator.Mails]. Block helpers in templates are not rendered, see [Render]. Every
// configuration set publishes
// all its events to one outbox; there are no event destinations. A bounced message is not
// sent again, and bounce rates have no consequences.
//
// Bounces are permanent unless [Behaviour] or a label sets another type. Account-wide
// settings for suppression are the default of SES: bounces and complaints. Seed sets the
// verification of identities; DNS is not checked. SES allows 20 topics, this account 50.
// Calls of SES that read details of identities and configuration sets are slow and
// throttled; here they are fast unless [Faults] makes them slow.
//
// # State
//
// The state is one SQLite file for all organizations. Acknowledged writes survive a killed
// process. A power failure may lose the last moments, but never leaves a partial write. Two
// processes may open the file at once, so its content is not cached in memory. A file of an
// older version is migrated when it is opened.
//
// # Size
//
// It is one package because every call reads and writes the same tables in one transaction:
// a sent message reads identities, quota, topics and the suppression list, and its events
// change the suppression list. Each part of the interface has a file of its own.
package simulator
