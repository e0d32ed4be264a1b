// Package cli parses the command line, prints results, errors and progress, and decides the
// exit status. All commands share it.
//
// A command is a struct with a method Run(*Program) error. The tags of its fields define
// its flags and its help. The commands themselves are in other packages; package main lists
// them.
package cli
