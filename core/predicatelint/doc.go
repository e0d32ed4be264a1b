// Package predicatelint finds parts of a valid predicate that do not do what their author probably
// wants: parts that no contact or every contact matches, parts that contradict each other,
// repeated parts, time windows beyond what is stored, and segments that test themselves.
//
// The package is pure. It evaluates no contact. A finding is never wrong: if a predicate is
// reported as matching no contact, the evaluators of package predicate find none. But it
// does not report everything that could be concluded, and it stops after a fixed number of
// steps, so that the time for any predicate is bounded.
//
// # How contradictions are found
//
// The predicate is read as a tree of parts without negations; see [predicate.Part]. To
// decide whether parts can all be True for one contact, the tests among them are grouped by
// what they read: one attribute, the events of one source, the consent, one list. Groups
// are independent, so the parts contradict each other if one group has no possible state.
// A state of an attribute is a value, or that it is absent. An absent value makes most
// tests Unknown, so "x = 1 or x != 1" is not True for every contact, and "x = 1 and
// x != 1" is True for none.
//
// Parts with "or" are tried alternative by alternative, together with the tests that must
// be True anyway. Several of them are not combined with each other.
//
// Whether a part is True for every contact is the opposite question: whether its tests can
// all be something other than True.
package predicatelint
