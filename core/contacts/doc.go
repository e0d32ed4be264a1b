// Package contacts owns contacts: the people an organization may write to, with
// attribute values, consent and list memberships. Package core/bulk writes many of them
// by the plans of this package.
//
// The sending account decides about consent (choices about topics, the global opt-out).
// A write calls the account first and mirrors its answer; a read of one contact reads
// the account. External ids, values, memberships and archiving exist only in Mailhelm.
//
// Attributes, lists and topics are defined in packages of their own: core/attributes,
// core/lists and core/topics. The last one also syncs the mirror with the account. A
// contact uses their types. Reads and writes of those packages go through the interfaces
// in contacts.go.
//
// One file holds one operation: contacts_upsert.go is the whole of contacts_upsert.
// Files named after a noun hold what several operations share: contact.go, consent.go,
// plan.go.
//
// The package contains no SQL (store.go states what it needs stored), no HTTP and no
// code for a particular provider.
package contacts
