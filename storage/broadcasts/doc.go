// Package broadcasts stores broadcasts, and copies, counts and judges their audiences. The
// recipients of a broadcast are in package handover.
package broadcasts
