package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/settings"
	"github.com/mailhelm/mailhelm/storage"
)

type migrateCommand struct {
	Up     migrateUp     `cmd:"" help:"Bring the schema up to date. 'mailhelm serve' does so by itself unless told not to."`
	Status migrateStatus `cmd:"" help:"List the migrations and which of them the database has."`
}

// Help is shown below the summary.
func (migrateCommand) Help() string {
	return `Examples:

    mailhelm migrate status --data /var/lib/mailhelm
    mailhelm migrate up --database-url postgres://mailhelm@db/mailhelm`
}

type migrateUp struct{ settings.Database }

// Run migrates.
func (c *migrateUp) Run(p *program) error {
	return p.withDatabase(c.Database, func(db *storage.DB) error {
		if err := db.Migrate(p.ctx); err != nil {
			return err
		}
		_, err := fmt.Fprintln(p.stdout, "The schema is up to date.")
		return err
	})
}

type migrateStatus struct {
	settings.Database
	JSON bool `help:"Print one JSON object."`
}

type migrationJSON struct {
	Version int64  `json:"version"`
	Name    string `json:"name"`
	Applied bool   `json:"applied"`
}

// Run lists the migrations.
func (c *migrateStatus) Run(p *program) error {
	return p.withDatabase(c.Database, func(db *storage.DB) error {
		states, err := db.MigrationStatus(p.ctx)
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
			return p.printJSON(map[string]any{"migrations": listed})
		}
		return p.printTable("", rows)
	})
}

func (p *program) withDatabase(where settings.Database, do func(*storage.DB) error) error {
	log, err := p.logger("warn")
	if err != nil {
		return err
	}
	db, err := storage.Open(p.ctx, storage.Config{URL: where.DatabaseURL, Dir: where.Data, Logger: log})
	if err != nil {
		return err
	}
	return errors.Join(do(db), db.Close())
}
