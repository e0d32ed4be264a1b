// Package git holds what is promised about definitions in Git repositories: the journey of a
// repository from its connection to its end, with the program git of the operating system.
package git
