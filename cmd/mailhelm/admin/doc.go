// Package admin holds the commands of an operator. They manage organizations, people,
// credentials and sending accounts directly in a database; a server may run on it at the
// same time. The packages in core make the changes; this package reads flags and prints
// results.
//
// # Size
//
// The package has about 2,900 lines: a file or two for each group of commands. All groups
// share the flags that select the installation, and the printing of tables and JSON. A
// division would export these for nothing but the division.
package admin
