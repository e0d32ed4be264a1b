// Package placement tells whether a PostgreSQL that is sharded by org_id can send a statement
// to one shard. It does not search the text of the statement: PostgreSQL parses it and
// resolves its names, and the package follows the equalities of the resulting query tree.
//
// A statement has one place if every table of an organization that it names, in subqueries
// too, has org_id equal to one and the same parameter: by a condition, by a join on org_id
// with a table that has it, or by the inserted value. Conditions under OR and NOT, and the
// conditions of an outer join for the table whose rows stay, prove nothing.
//
// The package is only for tests.
package placement
