// Package slots stores attribute values of contacts in the table contact_slots, by which
// predicates find contacts. A slot is a typed, indexed column of this table that holds the
// values of one attribute.
//
// The package reads an organization's attribute definitions (the registry), converts
// attribute values to them, and encodes values for storage. It defines how many slots exist
// and how much of a text a slot holds.
//
// Packages attributes, contacts and bulk use this package, and the SQL of predicates reads
// the columns of the table. The package does not change attribute definitions.
package slots
