//go:build !unix

package serve

import "os"

// lockFile does nothing where there is no flock: SQLite's own locks still keep
// the database whole.
func lockFile(*os.File) error { return nil }
