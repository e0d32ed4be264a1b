// Package slots describes the columns of contact_slots: their number for each type, and
// how much of a text they hold. The room that writes attributes and the SQL of predicates
// share it. It runs no statement.
package slots
