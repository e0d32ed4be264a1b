// Package slots writes the values of contacts' attributes: it reads the registry that a write
// follows, returns the stored form of values, and keeps the rows of contact_slots, by
// which predicates find contacts. It also says how many columns these have and how much of
// a text they hold.
//
// The rooms of attributes, contacts and bulk writes share it, and the SQL of predicates
// reads its columns. It changes nothing in the registry and owns no store.
package slots
