// Package predicatetest generates random schemas, predicates and contacts, for tests that
// compare the back ends of package predicate.
//
// All generated data is valid: predicates compile, and values can be stored. Names and
// values come from small sets, so that tests match about half of the time. Times are at the
// edges of windows or a microsecond beside them. Some values have another type than the
// registered one, so that they count as absent. A string is never generated for a datetime,
// or a datetime for a string: a database stores both as JSON strings and cannot see that
// the type differs. Sums of the generated numbers are exact in any order.
//
// It uses no database. It is for tests only.
package predicatetest
