// Package audience is the people an organization may write to: contacts with
// typed attributes and consent, topics they subscribe to, lists they are on.
//
// Who owns what. The sending account is the truth about consent (topic
// preferences, the global opt-out) and topics: a write asks the account first and
// mirrors it after, a read of one contact asks the account. Attributes, external
// ids, lists and archiving are Mailhelm's alone.
//
// One file per task: contacts_upsert.go is the whole of contacts_upsert. What
// several tasks share is in a file named after the noun: contact.go, consent.go,
// attributes.go, membership.go.
//
// It does not know SQL (store.go says what it needs remembered), nor HTTP, nor
// any provider.
package audience
