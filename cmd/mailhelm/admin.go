package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/admin"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/settings"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage"
)

type adminCommand struct {
	Org        adminOrg        `cmd:"" help:"Organizations: create, list, edit, set-limit."`
	User       adminUser       `cmd:"" help:"People: create, list, add-to-org, set-role, set-permissions, remove-from-org, set-password, invite, reset-second-factor."`
	Key        adminKey        `cmd:"" help:"API keys: create, list, edit-scopes, rotate, revoke."`
	Client     adminClient     `cmd:"" help:"OAuth clients: create, list, edit, rotate-secret, revoke, block, unblock, blocked."`
	Grant      adminGrant      `cmd:"" help:"What people allowed clients to do: list, revoke."`
	Keys       adminKeys       `cmd:"" help:"The keys that sign access tokens: list, rotate."`
	Account    adminAccount    `cmd:"" help:"Sending accounts: connect, show, verify, template-version, disconnect."`
	Production adminProduction `cmd:"" help:"Decide about requests for production access."`
	Audit      adminAudit      `cmd:"" help:"The audit log: list."`
}

// Help is shown below the summary.
func (adminCommand) Help() string {
	return `Works on the database directly, so whoever can read it is an administrator; a server may run on it at the same time and applies every change within five seconds, on PostgreSQL within one. An organization is named by its slug or its id. Secrets are printed once, to standard output, and exist nowhere else.

Examples:

    mailhelm admin org create acme --name "Acme Ltd"
    mailhelm admin user create ada@example.com --name Ada --org acme --role owner
    mailhelm admin key create acme --name CI --scopes read
    mailhelm admin client create acme --name Agent --scopes all --redirect-uri https://agent.example.com/callback
    mailhelm admin audit list acme --json`
}

// adminTarget is what every admin command takes: where the data is, and how to
// print.
type adminTarget struct {
	settings.Database
	JSON bool `help:"Print one JSON object."`
}

// session is an admin command with its database open.
type session struct {
	*program
	json  bool
	cfg   config.Config
	db    *storage.DB
	admin admin.Admin
}

// with opens the database for a command. It does not take the data folder for
// this process alone, as a server does: all it does is single transactions.
func (t adminTarget) with(p *program, do func(context.Context, *session) error) error {
	log, err := p.logger("warn")
	if err != nil {
		return err
	}
	cfg := config.Config{DataDir: t.Data, DatabaseURL: t.DatabaseURL, Clock: core.SystemClock, Log: log}
	db, err := openExisting(p.ctx, cfg, p.wait)
	if err != nil {
		return err
	}
	s := &session{
		program: p, json: t.JSON, cfg: cfg, db: db,
		admin: admin.Admin{
			Stores: db.Access(), Orgs: db.Orgs(), Users: db.Users(), Members: db.Members(), Tx: db, Clock: cfg.Clock,
			Actor: access.ActorOf(access.Operator),
		},
	}
	return errors.Join(p.explained(do(p.ctx, s)), db.Close())
}

// commandWait is how long a command waits for a busy server to let it write. Unlike
// a client's call, a command is not retried.
const commandWait = time.Minute

// openExisting opens a database that is there and up to date. Making or changing
// one is for 'mailhelm serve' and 'mailhelm migrate': a folder that was misspelt
// must not become an empty installation. Each of the command's calls waits for a busy
// database at most as long as wait.
func openExisting(ctx context.Context, cfg config.Config, wait time.Duration) (*storage.DB, error) {
	if cfg.DatabaseURL == "" {
		if _, err := os.Stat(cfg.DatabaseFile()); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no database in %s: name the folder with --data, or make one with 'mailhelm serve' or 'mailhelm migrate up'", cfg.DataDir)
		}
	}
	where := cfg.Storage()
	where.CallerWait = wait
	db, err := storage.Open(ctx, where)
	if err != nil {
		return nil, err
	}
	missing, err := config.MissingMigrations(ctx, db)
	if err == nil && missing > 0 {
		err = fmt.Errorf("the database lacks %d of this program's migrations: run 'mailhelm migrate up'", missing)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// org finds an organization by its id or slug.
func (s *session) org(ctx context.Context, ref string) (core.Org, error) {
	find := s.db.Orgs().OrgBySlug
	if core.IsID(ref) {
		find = s.db.Orgs().Org
	}
	org, err := find(ctx, ref)
	if notFound(err) {
		return core.Org{}, fmt.Errorf("there is no organization %q: 'mailhelm admin org list' shows them", ref)
	}
	return org, err
}

func notFound(err error) bool {
	refusal, ok := errors.AsType[*core.Error](err)
	return ok && refusal.Code == core.CodeNotFound
}

// parseScopes reads scope names, or "all", or "read" for all that only look.
func parseScopes(names []string) (core.Scopes, error) {
	var chosen []string
	for _, name := range names {
		switch name = strings.TrimSpace(name); {
		case name == "all":
			chosen = append(chosen, core.AllScopes().Strings()...)
		case name == "read":
			for _, scope := range core.AllScopes().Strings() {
				if strings.HasSuffix(scope, ".view") {
					chosen = append(chosen, scope)
				}
			}
		case core.Scope(name).Known():
			chosen = append(chosen, name)
		default:
			return nil, fmt.Errorf("there is no scope %q: give names such as api.contacts.view, or all, or read", name)
		}
	}
	return core.NewScopes(chosen...), nil
}

// instant is a time as tables show it; nothing for none.
func instant(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Format(time.RFC3339)
}
