// Package lists owns static lists: their definitions, which contacts are on them, and the
// membership log, which records when contacts joined and left.
//
// A list is named by its id or its key. Lists has the operations on definitions and reads
// members. Packages that write contacts use it, through interfaces of their own, to convert
// names of lists to a Change. They apply the Change in the transaction of their write.
//
// The package does not write contacts and has no rules about who may be on a list.
// Segments, whose members are determined by a predicate, are in core/segments. That package
// writes to the membership log too.
package lists
