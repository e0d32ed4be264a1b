// Package topics owns the topics to which contacts subscribe, the choices about them, and the
// sync of both with the sending account.
//
// The account has the authoritative topics and the consent of each contact: choices about
// topics and the global opt-out. Mailhelm stores a copy, the mirror. Topics writes a
// changed topic to the account first, and then stores what the account accepted. Live
// reads the account's topics and caches them for a minute. Sync updates the mirror from
// the account, and writes contacts that the account lost to the account again. If a write
// changed the account and its database transaction then failed, Sync undoes the change at
// the account.
//
// Packages that write contacts import Choices, Preference and the functions in consent.go,
// which compare and join two consents. What a write does to consent is in core/consent.
// This package does not write contacts; the sync uses the type Subscriber for them. It has
// no code for a particular provider, but uses the interface in core/sending.
package topics
