// Package predicatetest draws random schemas, predicates and contacts, for tests that
// hold the back ends of package predicate against one another.
//
// Everything drawn is valid: predicates compile, values are ones that could be
// stored. Names and values come from small sets, so that tests hit as often as they
// miss, and moments lie on the very edges of windows and to either side of them. Some
// values have another type than the registered one, which makes them absent; a string
// is never drawn as a datetime or the reverse, for both are the same JSON. Sums of the
// numbers drawn are exact in any order.
//
// It knows no database. It is for tests alone.
package predicatetest
