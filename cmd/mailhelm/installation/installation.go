// Package installation opens the database of an installation for commands that work on it
// without a server. A server may run on the same installation at the same time. The package
// also finds an organization by its slug or id, and has what the commands of an operator share:
// changes in the operator's name, the master key, and the printing of lists.
package installation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Target holds the flags of a command that works on an installation: the data folder, the
// database and --json.
type Target struct {
	config.Database
	JSON bool `help:"Print one JSON object."`
}

// Session is a running command with its open database. It is valid until the function
// passed to [Target.With] returns.
type Session struct {
	*cli.Program
	// JSON reports whether --json was given. A command then prints one JSON object in place
	// of a table.
	JSON bool
	// Config contains only the data folder, the database URL, the clock and the log.
	Config config.Config
	DB     *storage.DB
}

// With opens the database, calls do and closes the database. Unlike a server it does not
// lock the data folder, so a server may run at the same time. A command needs no lock,
// because it only runs database transactions and keeps no data between them. If do returns
// the error of a refused request, With rewrites it with [cli.Program.Explain].
func (t Target) With(p *cli.Program, do func(context.Context, *Session) error) error {
	log, err := p.Logger("warn")
	if err != nil {
		return err
	}
	cfg := config.Config{DataDir: t.Data, DatabaseURL: t.DatabaseURL, DatabaseDirectURL: t.DatabaseDirectURL, Clock: core.SystemClock, Log: log}
	db, err := openExisting(p.Ctx, cfg, p.BusyWait)
	if err != nil {
		return err
	}
	s := &Session{Program: p, JSON: t.JSON, Config: cfg, DB: db}
	return errors.Join(p.Explain(do(p.Ctx, s)), db.Close())
}

// openExisting opens a database that exists and has the current schema; otherwise it fails.
// It never creates a database, so that a misspelt folder does not become an empty
// installation. Each query waits for a busy database at most the duration in the parameter
// wait.
func openExisting(ctx context.Context, cfg config.Config, wait time.Duration) (*storage.DB, error) {
	if cfg.DatabaseURL == "" {
		if _, err := os.Stat(cfg.DatabaseFile()); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no database in %s: name the folder with --data, or the configuration file of the server with --config, or create a database with 'mailhelm serve' or 'mailhelm migrate up'", cfg.DataDir)
		}
	}
	db, err := storage.Open(ctx, engine.Config{URL: cfg.DatabaseURL, DirectURL: cfg.DatabaseDirectURL, Dir: cfg.DataDir, CallerWait: wait, Clock: cfg.Clock, Logger: cfg.Log})
	if err != nil {
		return nil, config.DatabaseError(cfg.DatabaseURL, err)
	}
	missing, err := db.MissingMigrations(ctx)
	if err == nil && missing > 0 {
		err = fmt.Errorf("the database lacks %d of this program's migrations: run 'mailhelm migrate up'", missing)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Org returns the organization whose slug or id is ref. If there is none, the error names
// the command that lists organizations.
func (s *Session) Org(ctx context.Context, ref string) (core.Org, error) {
	find := s.DB.Orgs().OrgBySlug
	if core.IsID(ref) {
		find = s.DB.Orgs().Org
	}
	org, err := find(ctx, ref)
	if NotFound(err) {
		return core.Org{}, fmt.Errorf("there is no organization %q: 'mailhelm admin org list' shows them", ref)
	}
	return org, err
}

// OrgOrOnly returns the organization whose slug or id is ref. If ref is "", it returns the
// only organization of the installation, and fails if there is not exactly one.
func (s *Session) OrgOrOnly(ctx context.Context, ref string) (core.Org, error) {
	if ref != "" {
		return s.Org(ctx, ref)
	}
	ids, err := s.DB.Orgs().OrgIDs(ctx)
	if err != nil {
		return core.Org{}, err
	}
	if len(ids) != 1 {
		return core.Org{}, fmt.Errorf("there are %d organizations: choose one with --org", len(ids))
	}
	return s.DB.Orgs().Org(ctx, ids[0])
}

// NotFound reports whether err is a [core.Error] whose code means that an object does not
// exist.
func NotFound(err error) bool {
	refusal, ok := errors.AsType[*core.Error](err)
	return ok && refusal.Code == core.CodeNotFound
}
