// Package sqlitefile creates the files of SQLite databases and names them for SQLite. The
// database of Mailhelm and the account of the simulator are such files.
package sqlitefile

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Create creates an empty file with mode 0600; if SQLite created it, the mode would depend
// on the umask. It also restricts an existing file, such as a copy with other permissions,
// and does not change its content. SQLite creates its log files with the same mode.
func Create(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(file.Chmod(0o600), file.Close())
}

// URI returns the URI of a file for SQLite, without parameters. path is absolute. On Windows
// it begins with a drive, and the URI of C:\data\a.db is file:///C:/data/a.db: without the
// third slash, SQLite takes the drive for the name of another machine.
func URI(path string) *url.URL {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return &url.URL{Scheme: "file", Path: path}
}
