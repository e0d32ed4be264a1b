// Package segments owns segments: groups of contacts described by a predicate. It stores
// their definitions, their current members, and a log of contacts that entered and left.
//
// Membership follows changes with a delay. A changed contact is noted in the transaction
// of the change (ObserveChange). A job evaluates it within seconds, by the SQL of every active
// segment, limited to that contact. Changes caused by time alone, such as the end of a
// window, are found by a sweep every few hours. A job locks the segment's row and then
// runs the query again. Any number of workers therefore reach the same result, and none
// logs an entry twice. A paused or invalid segment keeps its members.
//
// The language of predicates is in core/predicate, and their translation to SQL in
// storage. The package sends nothing.
package segments
