// Package topics owns the topics to which contacts subscribe, the rules of consent, and the
// sync of both with the sending account.
//
// The account is the authority: it has the topics and each contact's consent (choices about
// topics, the global opt-out). Mailhelm stores a mirror. Topics writes a topic to the
// account first and then mirrors what the account accepted. Live reads the account's topics
// and caches them for a minute. Sync updates the mirror from the account, pushes contacts
// that the account lost, and repairs writes that reached the account and then failed.
//
// Packages that write contacts import Choices, Preference and the functions in consent.go.
// This package does not write contacts; the sync uses the type Subscriber for them. It has
// no code for a particular provider: the account is the port in core/sending.
package topics
