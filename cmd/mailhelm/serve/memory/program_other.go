//go:build !linux

package memory

// forgetProgram does nothing: only Linux counts the pages of a program's file as memory of the process
// and lets it give them back.
func forgetProgram() {}
