// Package segments owns segments: groups of contacts described by a predicate. It stores
// their definitions, their current members, and a log of contacts that entered and left.
//
// Members are updated after changes with a delay. ObserveChange stores the ids of changed
// contacts in the transaction of the change. A job evaluates these contacts for every
// active segment within seconds. A sweep is a job that evaluates all contacts every few
// hours. It finds changes that are caused by time alone, such as the end of a time window.
//
// A job locks the row of the segment before it runs the query that updates the members. So
// any number of workers reach the same result, and each change of the members is logged
// once. A paused or invalid segment keeps its members.
//
// The language of predicates is in core/predicate, and their translation to SQL in storage.
// The package sends no mail.
package segments
