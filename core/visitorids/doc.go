// Package visitorids owns visitor ids, by which the customer's website recognizes a contact
// who signed in there. A contact has at most one.
//
// A visitor id is a credential: its holder can act as the contact on the website. The
// database has the id only encrypted, because every read of the contact by an agent returns
// it, and its hash. The hash keeps ids unique and can find the contact of an id, which no
// operation needs yet.
//
// The package does not know contacts. Package core/contacts issues the id of a contact that
// it identified, and revokes the id of a contact that it archives.
package visitorids
