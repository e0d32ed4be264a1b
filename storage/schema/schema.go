// Package schema holds the migrations of the database, one set for both engines.
//
// A migration is NNNN_name.sql, plain SQL that only goes forward. A file that was
// released is never edited; a later file changes what it made. Types are those
// that both engines take: bytetext (text ordered by its bytes, so that pages come
// in the same order everywhere), text, bigint, integer, double precision, boolean,
// bytea.
//
// It does not run them; storage does.
package schema

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
)

//go:embed *.sql
var files embed.FS

// Migration is one step of the schema. Its SQL may hold slots /*pg ...*/ that
// open on PostgreSQL alone.
type Migration struct {
	Version int64
	Name    string
	SQL     string
}

// Migrations lists all steps in order.
func Migrations() ([]Migration, error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	all := make([]Migration, len(entries))
	for i, entry := range entries { // sorted by name, so by version
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
