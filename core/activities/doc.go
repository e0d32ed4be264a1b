// Package activities stores the actions of contacts, such as purchases, that the customer's
// systems report. An activity has a name, a time and properties of any shape, and belongs
// to a contact. Activities are never changed. Predicates count them, and workflows start
// with them.
//
// # What this package owns
//
// Recording activities (activities_record.go): which items of a batch are refused
// (item.go), to which contact an item belongs (identity.go), and which items are duplicates
// (dedup.go). It also has the reads, the registry of promoted properties (property.go) and
// the deletion of old activities (purge.go). A promoted property is a member of the
// activities' properties that predicates may test.
//
// # What other packages own
//
// The record and consent of a contact belong to package contacts. This package creates a
// contact at most as a stub, which is not mailable. [Config.OnChange] and
// [Config.AffectedSegments] connect activities with segments.
//
// # How duplicates are avoided
//
// Duplicates are found by claims: a claim is a stored idempotency key, or a stored pair of
// contact and name. One transaction writes the stubs, claims and activities of a batch. So
// there is no claim without its activity, and an activity that was reported as stored is
// not lost. If the claims cannot be read, the mode of the item decides whether it is
// accepted; see [Retry] and [Once].
package activities
