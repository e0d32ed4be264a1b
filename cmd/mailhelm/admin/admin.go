package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/provision"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// Command is `mailhelm admin`.
type Command struct {
	Org        orgCommands        `cmd:"" help:"Manage organizations."`
	User       userCommands       `cmd:"" help:"Manage people and their memberships."`
	Key        keyCommands        `cmd:"" help:"Manage API keys."`
	Client     clientCommands     `cmd:"" help:"Manage OAuth clients."`
	Grant      grantCommands      `cmd:"" help:"List and revoke grants: permissions that people gave to clients."`
	Keys       signingCommands    `cmd:"" help:"List and rotate the keys that sign access tokens."`
	Account    accountCommands    `cmd:"" help:"Manage sending accounts."`
	Webhook    webhookCommands    `cmd:"" help:"Manage endpoints that receive message events."`
	Received   receivedCommands   `cmd:"" help:"Send received mail to webhooks again."`
	Production productionCommands `cmd:"" help:"Close requests for production access."`
	Audit      auditCommands      `cmd:"" help:"Read the audit log."`
}

// Help returns the text that --help shows below the summary.
func (Command) Help() string {
	return `Works on the database directly, so everyone with access to the database is an administrator. A server may run on it at the same time and applies every change within five seconds, on PostgreSQL within one second. Name an organization by its slug or its id. Secrets are printed once, to standard output; the database stores only hashes of them.

Examples:

    mailhelm admin org create acme --name "Acme Ltd"
    mailhelm admin user create ada@example.com --name Ada --org acme --role owner
    mailhelm admin key create acme --name CI --scopes read
    mailhelm admin client create acme --name Agent --scopes all --redirect-uri https://agent.example.com/callback
    mailhelm admin audit list acme --json`
}

// target holds the flags of every command in this package: the data folder, the database
// and --json.
type target struct{ installation.Target }

// session is a running admin command with its open database. It is valid until the function
// passed to target.with returns.
type session struct {
	*installation.Session
	// operator creates and changes organizations, people and credentials. The audit log then
	// names the operator as the actor.
	operator provision.Provisioner
}

// with opens the database, calls do and closes the database. If the database is missing or
// lacks migrations, it fails without calling do. If do fails because of an invalid request
// field, the error names the flag that set the field.
func (t target) with(p *cli.Program, do func(context.Context, *session) error) error {
	return t.With(p, func(ctx context.Context, opened *installation.Session) error {
		db := opened.DB
		return do(ctx, &session{opened, provision.Provisioner{
			Stores: db.Access(), Orgs: db.Orgs(), Users: db.Users(), Members: db.Members(), Tx: db, Clock: opened.Config.Clock,
			Actor: access.ActorOf(access.Operator),
		}})
	})
}

// withOrg opens the database, finds the organization whose slug or id is ref, and calls the
// function do. It fails if there is no such organization.
func (t target) withOrg(p *cli.Program, ref string, do func(context.Context, *session, core.Org) error) error {
	return t.with(p, func(ctx context.Context, s *session) error {
		org, err := s.Org(ctx, ref)
		if err != nil {
			return err
		}
		return do(ctx, s, org)
	})
}

// personByEmail returns the person who signs in with this email address. It fails if there
// is no such person. It searches the whole installation, because people are not bound to
// one organization.
func (s *session) personByEmail(ctx context.Context, email string) (access.User, error) {
	user, err := s.DB.Users().UserByEmail(ctx, email)
	if installation.NotFound(err) {
		return access.User{}, errors.New("there is no person with this address")
	}
	return user, err
}

// parseScopes parses names of scopes, "all" for every scope, and "read" for every read-only
// scope. It ignores white space around names and fails for an unknown name. The result has
// no duplicates.
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
		case core.Scope(name).IsKnown():
			chosen = append(chosen, name)
		default:
			return nil, fmt.Errorf("there is no scope %q: give names such as api.contacts.view, or all, or read", name)
		}
	}
	return core.NewScopes(chosen...), nil
}

// instant formats a time for a table, in RFC 3339 without fractions of a second. It returns
// "" for nil.
func instant(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Format(time.RFC3339)
}
