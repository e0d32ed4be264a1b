// Package audience owns contacts: the people an organization may write to, with values of
// attributes, consent and memberships; and the bulk writes, pushes and imports of them.
//
// The sending account decides about consent (choices about topics, the global opt-out). A
// write asks the account first and mirrors its answer; a read of one contact asks the
// account. External ids, values, memberships and archiving are Mailhelm's alone.
//
// Definitions belong to rooms of their own: core/attributes, core/lists and core/topics,
// which also syncs the mirror with the account. A contact speaks their vocabulary.
// Reads and writes of those rooms go through the interfaces in audience.go.
//
// One file holds one task: contacts_upsert.go is the whole of contacts_upsert. Files named
// after a noun hold what several tasks share: contact.go, consent.go, plan.go.
//
// It knows neither SQL (store.go states what it needs stored), nor HTTP, nor a provider.
package audience
