// Package segments stores segments and their members, and compiles predicates to SQL.
//
// A predicate becomes one query. It starts from contact_slots, the table with the attribute
// values of contacts, and reads lists, activities and messages where the predicate needs
// them. SubjectStore reads the same data of many contacts for core/predicate, which evaluates
// predicates in memory. Only this SQL reads tables that other packages own, and it writes
// none of them. A property test compares the results of both ways.
package segments
