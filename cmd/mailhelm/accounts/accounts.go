package accounts

import (
	"context"
	"os"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/ses"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/sending/smtp"
	"github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/core/topics"
)

// Adapters opens accounts of the real sending providers, which are Amazon SES and SMTP
// servers. The simulator is not among them.
type Adapters struct {
	// Open holds the function that opens an account, by provider. Servers holds the open
	// connections to SMTP servers; it is nil in the zero value.
	Open    map[sending.Provider]sending.Open
	Servers *smtp.SMTP
}

// NewAdapters returns the adapters for Amazon SES and for SMTP servers. Accounts of one
// provider share network connections. It returns an error if cfg.MailServerNetworks has an
// invalid network. An SMTP server has no contact list, so lists has the lists of SMTP accounts;
// see [NewConsent].
//
// An Amazon connection with a role but no access key uses the installation's own key, from
// the AWS_* variables. Nothing else uses that key.
func NewAdapters(cfg config.Config, lists smtp.Consent) (Adapters, error) {
	networks, err := cfg.MailNetworks()
	if err != nil {
		return Adapters{}, err
	}
	amazon := cfg.AmazonClient
	if amazon == nil {
		amazon = ses.NewHTTPClient()
	}
	servers := smtp.New(smtp.Config{Consent: lists, Clock: cfg.Clock, Networks: networks})
	return Adapters{Servers: servers, Open: map[sending.Provider]sending.Open{
		sending.SES: ses.Open(ses.Config{
			Credentials: ses.Credentials{
				AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), Secret: os.Getenv("AWS_SECRET_ACCESS_KEY"), Token: os.Getenv("AWS_SESSION_TOKEN"),
			},
			HTTPClient: amazon, Clock: cfg.Clock,
		}),
		sending.SMTP: servers.Open,
	}}, nil
}

// Close closes the open connections to SMTP servers. Call it once, after the last use
// of the accounts, and not on the zero value.
func (a Adapters) Close() error { return a.Servers.Close() }

// KeepList creates a contact list for an organization in the simulated account, unless one
// exists. It may be repeated.
func KeepList(ctx context.Context, embedded *simulator.Simulator, orgID string) error {
	_, err := embedded.ContactList(ctx, orgID)
	if !sending.IsAbsent(err) {
		return err
	}
	return embedded.Seed(ctx, orgID, simulator.Setup{List: &sending.ContactList{Name: "contacts"}})
}

// Prepare returns the function that a server calls before the first use of an account; see
// [sending.AccountsConfig]. It does the same as [Consent.Prepare]. On PostgreSQL it also creates
// the simulated account of an organization, unless it exists. `mailhelm admin` may run on another
// machine or as another user, so it cannot create the account in the data folder of the server. On
// SQLite it can.
func Prepare(cfg config.Config, embedded *simulator.Simulator, lists Consent) func(ctx context.Context, orgID string, provider sending.Provider) error {
	return func(ctx context.Context, orgID string, provider sending.Provider) error {
		if provider != sending.Simulated || cfg.DatabaseURL == "" {
			return lists.Prepare(ctx, orgID, provider)
		}
		_, err := embedded.Overview(ctx, orgID)
		if sending.IsAbsent(err) {
			err = embedded.Seed(ctx, orgID, simulator.Setup{})
		}
		return err
	}
}

// syncs returns the jobs that copy channels, templates and topics from an organization's
// sending account into Mailhelm's database, the job that deploys templates there, and the
// sweep of segments, which copies the suppression list. A job that copies another kind of
// data must be added to this list.
func syncs(orgID string) []jobs.OrgArgs {
	return []jobs.OrgArgs{channels.SyncArgs{OrgID: orgID}, templates.SyncArgs{OrgID: orgID}, topics.SyncArgs{OrgID: orgID}, templates.DeployArgs{OrgID: orgID}, segments.SweepArgs{OrgID: orgID}}
}

// SyncAccount returns a function that enqueues all jobs that copy data from an
// organization's account or to it. Call it after the organization has connected another account: a
// job that is already running may have read the earlier account.
func SyncAccount(queue jobs.Queue) func(ctx context.Context, orgID string) error {
	return func(ctx context.Context, orgID string) error {
		for _, job := range syncs(orgID) {
			if err := queue.Enqueue(ctx, job); err != nil {
				return err
			}
		}
		return nil
	}
}

// SyncAccountOnce returns a function that enqueues the jobs that copy data from an
// organization's account or to it. The function leaves out each job that it enqueued earlier and
// that is still waiting or running; see [jobs.Queue]. It reports whether it enqueued any
// job.
func SyncAccountOnce(queue jobs.Queue) func(ctx context.Context, orgID string) (bool, error) {
	return func(ctx context.Context, orgID string) (bool, error) {
		some := false
		for _, job := range syncs(orgID) {
			enqueued, err := queue.EnqueueOnce(ctx, job)
			if err != nil {
				return false, err
			}
			some = some || enqueued
		}
		return some, nil
	}
}
