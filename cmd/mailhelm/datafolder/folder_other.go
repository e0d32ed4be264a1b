//go:build !unix

package datafolder

import "os"

// hasModes is false, because permission bits say nothing on this operating system. Its access
// lists are not checked.
const hasModes = false

// lockFile does nothing, because this operating system has no flock. SQLite's own locks
// still protect the database file.
func lockFile(*os.File) error { return nil }
