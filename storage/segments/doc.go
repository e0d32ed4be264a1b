// Package segments stores segments and their members, and compiles predicates to SQL.
//
// A predicate becomes one query that begins at contact_slots and reads lists, activities
// and messages where the predicate asks for them: the SQL of predicates is the one place
// that reads the tables of other rooms, and it writes none of them. It changes with their
// schema; a property test compares its answers with those of core/predicate in memory.
package segments
