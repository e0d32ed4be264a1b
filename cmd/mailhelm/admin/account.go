package admin

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/accounts"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// AccountCommands is `mailhelm admin account`, the commands about an organization's sending
// account. Each command prints the stored connection, or the result of checking or changing
// it. No command prints a stored secret.
type AccountCommands struct {
	Connect         accountConnect         `cmd:"" help:"Store the credentials of an organization's sending account."`
	Show            accountShow            `cmd:"" help:"Show the connection, without the secret."`
	Verify          accountVerify          `cmd:"" help:"Check the connection and report problems."`
	TemplateVersion accountTemplateVersion `cmd:"" name:"template-version" help:"Record the version of the infrastructure template that the customer applied."`
	Disconnect      accountDisconnect      `cmd:"" help:"Delete the connection and its credentials."`
}

// Help returns the text that --help shows below the summary.
func (AccountCommands) Help() string {
	return `An organization sends through its own account: Amazon SES (ses), an SMTP server (smtp) or the simulated account of this installation (simulator). Without a connection it uses the simulated account. connect stores the credentials, encrypted with the master key, and does not contact the account; verify does. A running server applies changes within three seconds.

Send events to {base_url} followed by the ingest address that connect prints. The address identifies the organization but does not authenticate: events must be signed by the notification topic of --topic-arn, or carry the key of --new-ingest-key in the header x-api-key. The trust policy of a role must name the external id that connect prints. Without an access key, the server assumes the role with its own AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.

Examples:

    mailhelm admin account connect acme --provider ses --region eu-central-1 --access-key-id AKIDEXAMPLE000000 --secret-stdin < secret.txt
    mailhelm admin account connect acme --provider ses --region eu-central-1 --role-arn arn:aws:iam::111122223333:role/mailhelm --topic-arn arn:aws:sns:eu-central-1:111122223333:mailhelm
    mailhelm admin account connect acme --provider smtp --endpoint smtp.example.com:587 --access-key-id mailer --secret-file password.txt --identity example.com --max-24-hour 2000 --max-rate 5
    mailhelm admin account verify acme
    mailhelm admin account template-version acme 13
    mailhelm admin account show acme --json
    mailhelm admin account disconnect acme`
}

// accountTarget holds the flags and the argument that all commands on one organization's
// sending account share.
type accountTarget struct {
	installation.Target
	config.Master
	Org string `arg:"" help:"Slug or id of the organization."`
}

// accountSession is a running admin command on one organization's account.
type accountSession struct {
	*installation.Session
	// org is the organization named on the command line.
	org core.Org
	// connections reads the stored connections to sending accounts and decrypts their
	// secrets. connecting changes connections and records each change in the audit log.
	connections sending.Connections
	connecting  sending.Connecting
}

// on opens the database and the master key, calls the function do, and closes the database.
// It returns the error of do. If the organization is unknown or the master key is missing,
// it fails without calling do.
func (t accountTarget) on(p *cli.Program, do func(context.Context, accountSession) error) error {
	return t.With(p, func(ctx context.Context, s *installation.Session) error {
		org, err := s.Org(ctx, t.Org)
		if err != nil {
			return err
		}
		master, err := s.MasterKey(t.Master)
		if err != nil {
			return err
		}
		queue, err := s.DB.NewJobs(engine.JobsConfig{})
		if err != nil {
			return err
		}
		connections := s.DB.Connections(master)
		return do(ctx, accountSession{s, org, connections, sending.Connecting{
			Connections: connections, Transactor: s.DB, Clock: s.Config.Clock, Record: s.Record,
			KeepList: func(ctx context.Context, orgID string, provider sending.Provider) error {
				if provider == sending.SMTP {
					return s.DB.Consent().EnsureContactList(ctx, orgID)
				}
				return keepList(ctx, s, orgID)
			},
			Follow: accounts.SyncAccount(queue),
		}})
	})
}

// keepList creates the contact list of a simulated account; see [accounts.KeepList]. It opens the simulated account only for this call,
// because most commands do not need it.
func keepList(ctx context.Context, s *installation.Session, orgID string) error {
	if err := os.MkdirAll(s.Config.DataDir, 0o700); err != nil { // on PostgreSQL, org create makes none
		return fmt.Errorf("data folder: %w", err)
	}
	embedded, err := simulator.Open(s.Config.AccountFile(), simulator.Options{Clock: s.Config.Clock})
	if err != nil {
		return err
	}
	return errors.Join(accounts.KeepList(ctx, embedded, orgID), embedded.Close())
}

// connection returns the connection to the organization's sending account. It fails if no
// account is connected; the error then names the command that connects one.
func (s accountSession) connection(ctx context.Context) (sending.Connection, error) {
	c, err := s.connections.Connection(ctx, s.org.ID)
	if installation.NotFound(err) {
		return c, fmt.Errorf("no sending account is connected to %s: connect one with 'mailhelm admin account connect %s'", s.org.Slug, s.org.Slug)
	}
	return c, err
}
