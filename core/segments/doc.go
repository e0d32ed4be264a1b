// Package segments is the contacts that a predicate describes: its definition, who is
// in now, and a log of who came and went.
//
// Membership follows the contacts with some delay. A contact that changes is noted in
// the transaction of the change (Changed), and a job judges it within seconds by the
// SQL of every active segment, narrowed to it. What only the passing of time changes,
// a window that ends, is found by a sweep every few hours. A job that judges holds the row
// of the segment and asks the database anew there, so that any number of workers come
// to one result and none logs an entry twice. A paused or invalid segment keeps the
// members it had.
//
// It does not know the language, which is core/predicate, nor how predicates become
// SQL, which is storage. It sends nothing.
package segments
