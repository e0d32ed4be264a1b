// Package activities is what people did, as the customer's systems tell it: an
// activity has a name, a time, properties of any shape, and belongs to a contact.
// Activities are only ever added. Predicates count them, workflows start with them.
//
// # What this package owns
//
// Taking activities in (activities_record.go): which item of a batch is refused and
// why (item.go), whose activity it is (identity.go), and that one is not taken twice
// (dedup.go). Reading them back, the registry of promoted properties (property.go),
// and forgetting what has grown old (purge.go).
//
// # What it does not
//
// A contact's record and consent belong to package contacts; here a contact is made
// at most as a stub, which is not mailable. [Config.Changed] and [Config.Affected] say what
// activities mean for segments.
//
// # How items are taken once
//
// Everything that an accepted batch leaves is written in one transaction: stubs,
// claims and activities. So there is no claim without its activity and no activity
// that was answered and lost. What the claims cannot be asked about is decided by the
// mode of the item: see [Retry] and [Once].
package activities
