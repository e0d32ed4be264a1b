// Package consent owns the rules of what a person agreed to receive: the global opt-out and
// the explicit choices about topics, both in a [sending.Contact]. The sending account
// decides about consent, and the database has a copy of it.
//
//   - [Statement]: the choices that a caller states, and what they leave in force
//   - [Pending]: choices that are stored and not yet written to the account, and how they
//     are merged with the account's
//   - [Changes]: when each choice was last changed, and by whom
//
// The package consists of functions of values, without any state, store or call of the
// account. It imports neither contacts nor topics. Packages core/contacts and core/bulk apply
// the rules to contacts: they read consent, store it with the contact and write it to the
// account. Package core/topics syncs it.
package consent
