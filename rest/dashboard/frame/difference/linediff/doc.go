// Package linediff compares two texts line by line, for pages that show what a version of a
// template changed.
//
// [Lines] finds a shortest list of changes with the algorithm of Eugene W. Myers ("An O(ND)
// Difference Algorithm and Its Variations", 1986). Texts are written by people whom the
// dashboard does not trust, so the work is bounded: texts that differ in too many lines get a
// coarse result, in which one block of lines replaces another.
package linediff
