// Package lists stores static lists and their members, and reads the membership log, to
// which segments write too.
package lists
