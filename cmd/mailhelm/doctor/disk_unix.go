//go:build linux || darwin

package doctor

import "golang.org/x/sys/unix"

// freeSpace returns the bytes that this user may still write where the folder is.
func freeSpace(dir string) (bytes uint64, known bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return s.Bavail * uint64(s.Bsize), true
}
