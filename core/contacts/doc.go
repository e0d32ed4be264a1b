// Package contacts owns contacts: the people to whom an organization may write, with
// attribute values, consent and list memberships. Package core/bulk writes many contacts at
// once and uses the type [Plan] of this package.
//
// The sending account decides about consent (choices about topics, the global opt-out). A
// write calls the account first and stores its answer in the mirror, a copy of the
// account's contacts in the database. A read of one contact calls the account too. External
// ids, attribute values, memberships and archiving exist only in Mailhelm.
//
// Attributes, lists and topics are defined in core/attributes, core/lists and core/topics.
// Package core/topics also syncs the mirror with the account. This package uses the types
// of these three packages, and calls them through the interfaces in contacts.go. The rules
// of consent are functions in core/consent: which choices a write leaves in force, and when
// and by whom each was last changed. Package core/visitorids issues visitor ids.
//
// Each operation has its own file: contacts_upsert.go is the whole of contacts_upsert.
// Files named after a noun have what several operations share: contact_record.go,
// consent.go, plan.go.
//
// # Size
//
// It is one package because every write of one contact, by an operation or by a recipient,
// has the same two steps, push and store. Their order and their locks keep the account and
// the mirror equal. In a package of their own, any other package could call one of them
// alone.
//
// # Boundaries
//
// The package contains no SQL (store.go declares the storage that it needs), no HTTP and no
// code for a particular provider.
package contacts
