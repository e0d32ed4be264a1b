// Package usage writes texts from the definition of the command line: completion scripts
// for shells, the words that complete a command line, and the manual page.
package usage
