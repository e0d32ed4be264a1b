//go:build !unix

package datafolder

import "os"

// lockFile does nothing, because this operating system has no flock. SQLite's own locks
// still protect the database file.
func lockFile(*os.File) error { return nil }
