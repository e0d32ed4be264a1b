// Package lists stores static lists and their members. It also reads the membership log, to
// which package segments writes too.
package lists
