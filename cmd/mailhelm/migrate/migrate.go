// Package migrate is `mailhelm migrate`: it shows which migrations a database has, and
// applies the missing ones. Package storage contains the migrations.
package migrate

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Command is `mailhelm migrate`.
type Command struct {
	Up     up     `cmd:"" help:"Apply the missing migrations. 'mailhelm serve' does this at start, unless --no-migrate is set."`
	Status status `cmd:"" help:"List the migrations and whether the database has each of them."`
}

// Help returns the text that --help shows below the summary.
func (Command) Help() string {
	return `Examples:

    mailhelm migrate status --data /var/lib/mailhelm
    mailhelm migrate up --database-url postgres://mailhelm@db/mailhelm`
}

// up is `mailhelm migrate up`. If the SQLite database is missing, it creates the file.
type up struct{ config.Database }

// Run applies the missing migrations. It may be repeated: without missing migrations it
// changes nothing.
func (c *up) Run(p *cli.Program) error {
	return withDatabase(p, c.Database, func(db *storage.DB) error {
		if err := db.Migrate(p.Ctx); err != nil {
			return err
		}
		_, err := fmt.Fprintln(p.Stdout, "The schema is up to date.")
		return err
	})
}

// status is `mailhelm migrate status`.
type status struct {
	config.Database
	JSON bool `help:"Print one JSON object."`
}

// migrationJSON is the form in which --json prints a migration. Migrations are applied in
// the order of Version.
type migrationJSON struct {
	Version int64  `json:"version"`
	Name    string `json:"name"`
	Applied bool   `json:"applied"`
}

// Run lists all migrations and whether the database has them. It applies none. The exit
// status is 0 even if migrations are missing.
func (c *status) Run(p *cli.Program) error {
	return withDatabase(p, c.Database, func(db *storage.DB) error {
		states, err := db.MigrationStatus(p.Ctx)
		if err != nil {
			return err
		}
		listed := make([]migrationJSON, len(states))
		rows := make([][]string, len(states))
		for i, s := range states {
			listed[i] = migrationJSON(s)
			word := "missing"
			if s.Applied {
				word = "applied"
			}
			rows[i] = []string{word, strconv.FormatInt(s.Version, 10), s.Name}
		}
		if c.JSON {
			return p.PrintJSON(map[string]any{"migrations": listed})
		}
		return p.PrintTable("", rows)
	})
}

// withDatabase opens a database, calls the function do with it, and closes it. It returns
// the errors of do and of closing. Unlike installation.Target it accepts a database that
// lacks migrations.
func withDatabase(p *cli.Program, where config.Database, do func(*storage.DB) error) error {
	log, err := p.Logger("warn")
	if err != nil {
		return err
	}
	db, err := storage.Open(p.Ctx, engine.Config{URL: where.DatabaseURL, DirectURL: where.DatabaseDirectURL, Dir: where.Data, Logger: log})
	if err != nil {
		return config.DatabaseError(where.DatabaseURL, err)
	}
	return errors.Join(do(db), db.Close())
}
