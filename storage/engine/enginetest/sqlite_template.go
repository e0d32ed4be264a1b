package enginetest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mailhelm/mailhelm/storage/engine"
)

// sqliteFile is the name of an SQLite database in its folder.
const sqliteFile = "mailhelm.db"

// migrated is a folder with an SQLite database that has the complete schema.
var migrated = NewFolderTemplate(func(dir string) error {
	shared, err := sharedSQLite()
	if err != nil {
		return err
	}
	return fillSQLite(dir, shared)
})

// WriteSQLite creates a file mailhelm.db with the complete schema in dir, like [CopySQLite], for a
// [FolderTemplate] that adds rows.
func WriteSQLite(dir string) error { return migrated.writeTo(dir) }

// fillSQLite writes an SQLite database with the complete schema to dir: the one that another
// process has shared, or else a new one, which it shares; see [sharedSQLite].
func fillSQLite(dir, shared string) error {
	if shared == "" {
		return migrate(engine.Config{Dir: dir})
	}
	content, err := os.ReadFile(shared)
	if errors.Is(err, fs.ErrNotExist) {
		if err := migrate(engine.Config{Dir: dir}); err != nil {
			return err
		}
		return share(filepath.Join(dir, sqliteFile), shared)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, sqliteFile), content, 0o600)
}

// sharedSQLite returns the path at which the test processes of this machine share an SQLite
// database with the complete schema, because migrating one takes a quarter of a second of
// processor time in each process. The file is beside the data of the shared PostgreSQL
// server, and is removed with it. Each version of the schema has its own. The path is "" if
// there is no such server; the process then migrates a database of its own.
func sharedSQLite() (string, error) {
	c := cluster{dir: clusterDir()}
	if !Services() || !c.isOurs() {
		return "", nil
	}
	if _, err := os.Stat(c.path("run")); err != nil {
		return "", nil
	}
	name, err := templateName()
	return filepath.Join(c.path("run"), strings.Replace(name, "template", "sqlite", 1)), err
}

// share copies a database to the path of [sharedSQLite]. It renames a complete copy, because
// other processes read at the same time. If the server has ended in between, nothing is shared.
func share(database, shared string) error {
	content, err := os.ReadFile(database)
	if err != nil {
		return err
	}
	draft, err := os.CreateTemp(filepath.Dir(shared), "sqlite-")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = draft.Write(content)
	err = errors.Join(err, draft.Close())
	if err == nil {
		err = os.Rename(draft.Name(), shared)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
