//go:build !linux && !darwin

package doctor

// freeSpace returns false: this system is not asked.
func freeSpace(string) (bytes uint64, known bool) { return 0, false }
