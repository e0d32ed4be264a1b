// Package lists owns static lists: their definitions, which contacts are on them, and the
// log of who joined and left.
//
// A list is named by its id or its key. Lists does the tasks on definitions and reads
// members. Rooms that write contacts ask it, through an interface of their own, to turn
// names into a Change and to apply it in the transaction of their write.
//
// The package does not write contacts and does not decide who may be on a list. Segments,
// whose members follow a predicate, are core/segments; both share the membership log.
package lists
