// Package partitions divides large tables of PostgreSQL into partitions, one for each month, so
// that old rows are removed by dropping a table. SQLite has no partitions, so on SQLite every
// method does nothing.
//
// A divided table has these partitions. The month in a name is a UTC month, such as 202612.
//
//   - activities_before_202612 has all rows from before that month. It is the table that was
//     there before the table was divided, with its indexes.
//   - activities_202612 and so on have a month each.
//   - activities_default has rows that no other partition takes, so that no row is refused.
//
// All names are in the current schema. The state of a table is read from the catalogue of
// PostgreSQL alone, so each step can be interrupted at any statement and repeated.
// core/doc/decisions/0135 says why it is done in this way.
package partitions
