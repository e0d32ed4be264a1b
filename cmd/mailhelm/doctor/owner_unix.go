//go:build linux || darwin

package doctor

import (
	"io/fs"
	"os"
	"syscall"
)

// ownFile reports whether a file belongs to the user of this process alone. Files of root do not,
// because the server reads them as another user.
func ownFile(info fs.FileInfo) bool {
	status, ok := info.Sys().(*syscall.Stat_t)
	return !ok || status.Uid != 0 && int(status.Uid) == os.Geteuid()
}
