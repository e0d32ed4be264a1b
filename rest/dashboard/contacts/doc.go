// Package contacts has the dashboard pages about contacts: the list with its search and
// filters, and one contact with its consent, lists, segments, activities and messages.
//
// The list and the contact's record are read through the interface [Directory], because no
// operation searches contacts by parts. Everything else is read and written through
// operations, as the visitor.
package contacts
