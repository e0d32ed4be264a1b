// Package workpool has the loop with which a process works through items of work that are
// stored in the database, such as broadcasts that are sending. A [Pool] looks for items at
// regular intervals and when it is woken. It works on a limited number of them at the same
// time, each in its own goroutine and never twice at once, and lets an item rest after a
// failure.
//
// A pool knows only its own process. If two processes must not work on the same item, Find
// claims items by a lease in the database, and a [Results] ends the claims. A [Persist] is for
// work that waits until its result is stored. Work at fixed intervals, without items, is a job:
// see package core/jobs.
package workpool
