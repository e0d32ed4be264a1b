// Package activities stores what people did, as the customer's systems report it. An
// activity has a name, a time and properties of any shape, and belongs to a contact.
// Activities are never changed. Predicates count them, and workflows start with them.
//
// # What this package owns
//
// Recording activities (activities_record.go): which items of a batch are refused (item.go),
// to which contact an item belongs (identity.go), and which items are duplicates (dedup.go).
// It also has the reads, the registry of promoted properties (property.go) and the deletion
// of old activities (purge.go).
//
// # What it does not
//
// The record and consent of a contact belong to package contacts. Here a contact is created
// at most as a stub, which is not mailable. [Config.OnChange] and [Config.AffectedSegments]
// connect activities with segments.
//
// # How duplicates are avoided
//
// One transaction writes everything of an accepted batch: stubs, claims and activities. So
// there is no claim without its activity, and an activity that was answered as stored is not
// lost. If the claims cannot be read, the mode of the item decides; see [Retry] and [Once].
package activities
