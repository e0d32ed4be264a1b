// Package objects is the interface to where received mail is kept: the raw message and its
// parts, as objects with keys. The database keeps the rows of messages; it keeps no bodies
// and no attachments. The images that an organization's own mail shows are objects too.
//
// Its folders implement [Store]: files keeps objects in the data folder and is the default,
// s3 keeps them in a bucket of the organization. [Stores] finds the store of an
// organization. A message row remembers the id of its store, so mail that was stored before
// an organization changed its settings is still found.
//
// The package does not decide how long mail is kept. Who deletes a message deletes its
// objects.
package objects
