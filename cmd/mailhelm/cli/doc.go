// Package cli is shared by all commands. It parses the command line, prints results,
// errors and progress, and decides the exit status.
//
// A command is a struct whose tags are its flags and its help, with a method
// Run(*Program) error. The commands themselves are in a package for each family; package
// main lists them.
package cli
