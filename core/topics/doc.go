// Package topics owns the topics that contacts subscribe to, the rules of consent, and
// the sync of both with the sending account.
//
// The account decides: it holds the topics and each contact's consent (choices about
// topics, the global opt-out). Mailhelm keeps a mirror. Topics writes a topic to the
// account first and mirrors what the account took. Live reads the account's topics and
// remembers them for a minute. Sync brings the mirror up to the account, pushes contacts
// that the account lost, and repairs writes that reached the account and then failed.
//
// Choices, Preference and the functions in consent.go are vocabulary: rooms that write
// contacts import them. The package does not write contacts; the sync sees them as
// Subscriber. It knows no provider: the account is the port of core/sending.
package topics
