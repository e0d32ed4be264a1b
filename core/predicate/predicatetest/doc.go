// Package predicatetest draws random schemas, predicates and contacts, for tests that
// compare the back ends of package predicate.
//
// Everything drawn is valid: predicates compile, and values could be stored. Names and
// values come from small sets, so that tests match about as often as not. Moments lie at
// the edges of windows and on either side of them. Some values have another type than
// the registered one, which makes them absent. A string is never drawn as a datetime or
// the reverse, because both are the same JSON. Sums of the numbers drawn are exact in
// any order.
//
// It uses no database. It is for tests only.
package predicatetest
