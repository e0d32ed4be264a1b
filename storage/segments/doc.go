// Package segments stores segments and their members, and compiles predicates to SQL.
//
// A predicate becomes one query. It starts from contact_slots and reads lists, activities
// and messages where the predicate needs them. The SQL of predicates is the one place
// that reads the tables of other rooms; it writes none of them. It changes with their
// schema. A property test compares its results with those of core/predicate in memory.
package segments
