// Package schema contains the SQL migrations of the database, one set for both engines.
// Package storage/engine runs them.
//
// A migration is a file NNNN_name.sql with plain SQL. There are no down migrations. It begins
// with a comment that states what the migration locks on PostgreSQL, and for how long. The SQL of
// a released file is never edited; a later file changes what it created. Column types are
// those that both engines have: bytetext (text that is ordered by its bytes, so that pages
// have the same order everywhere), text, bigint, integer, double precision, boolean, bytea.
package schema

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
)

//go:embed *.sql
var files embed.FS

// Migration is one step of the schema. Its SQL may contain comments /*pg text*/, which are
// replaced by their text on PostgreSQL alone.
type Migration struct {
	Version int64
	Name    string
	SQL     string
}

// Migrations returns all migrations, sorted by version. It returns an error if a version is
// missing.
func Migrations() ([]Migration, error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	all := make([]Migration, len(entries))
	for i, entry := range entries { // ReadDir sorts by file name, which begins with the version
		number, name, _ := strings.Cut(strings.TrimSuffix(entry.Name(), ".sql"), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil || version != int64(i+1) {
			return nil, fmt.Errorf("schema: %s should be number %04d", entry.Name(), i+1)
		}
		text, err := files.ReadFile(entry.Name())
		if err != nil {
			return nil, fmt.Errorf("schema: %w", err)
		}
		all[i] = Migration{Version: version, Name: name, SQL: string(text)}
	}
	return all, nil
}
