package serve

import (
	"context"
	"os"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/ses"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/sending/smtp"
	"github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/core/topics"
)

// Adapters are the providers that a connection can be of, beside the simulator.
type Adapters struct {
	Open    map[sending.Provider]sending.Open
	servers *smtp.SMTP
}

// NewAdapters makes them. The accounts of one provider share their connections to
// it. embedded keeps the contact lists of those that have none.
//
// A connection to Amazon that names a role and no access key is reached with the
// installation's own key, in the variables that Amazon's programs read. They
// are no use for anything else.
func NewAdapters(cfg config.Config, embedded *simulator.Simulator) (Adapters, error) {
	networks, err := cfg.MailNetworks()
	if err != nil {
		return Adapters{}, err
	}
	amazon := cfg.AmazonClient
	if amazon == nil {
		amazon = ses.NewHTTPClient()
	}
	servers := smtp.New(smtp.Config{Consent: embedded, Clock: cfg.Clock, Networks: networks})
	return Adapters{servers: servers, Open: map[sending.Provider]sending.Open{
		sending.SES: ses.Open(ses.Config{
			Credentials: ses.Credentials{
				AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), Secret: os.Getenv("AWS_SECRET_ACCESS_KEY"), Token: os.Getenv("AWS_SESSION_TOKEN"),
			},
			HTTPClient: amazon, Clock: cfg.Clock,
		}),
		sending.SMTP: servers.Open,
	}}, nil
}

// Close ends the connections that are kept open.
func (a Adapters) Close() error { return a.servers.Close() }

// KeepList gives an organization a contact list in the simulated account, unless it
// has one there: that is where consent is kept beside an SMTP server.
func KeepList(ctx context.Context, embedded *simulator.Simulator, orgID string) error {
	_, err := embedded.ContactList(ctx, orgID)
	if !sending.IsAbsent(err) {
		return err
	}
	return embedded.Seed(ctx, orgID, simulator.Setup{List: &sending.ContactList{Name: "contacts"}})
}

// syncs are the jobs that read everything the mirror holds of an organization's
// account.
func syncs(orgID string) []jobs.Args {
	return []jobs.Args{channels.SyncArgs{OrgID: orgID}, templates.SyncArgs{OrgID: orgID}, topics.SyncArgs{OrgID: orgID}}
}

// SyncAccount leaves the syncs of an account that is another than before: those that
// run may have read the earlier one.
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

// syncAccountOnce leaves those syncs of an account that do not wait or run already.
// It reports whether there were any.
func syncAccountOnce(queue jobs.Queue) func(ctx context.Context, orgID string) (bool, error) {
	return func(ctx context.Context, orgID string) (bool, error) {
		some := false
		for _, job := range syncs(orgID) {
			left, err := queue.EnqueueOnce(ctx, job)
			if err != nil {
				return false, err
			}
			some = some || left
		}
		return some, nil
	}
}

// connecting changes connections in this process, which feels it at once.
func connecting(cfg config.Config, s *stores, domains catalogue.Domains) sending.Connecting {
	return sending.Connecting{
		Connections: s.connections, Transactor: s.db, Clock: cfg.Clock,
		KeepList: func(ctx context.Context, orgID string) error { return KeepList(ctx, s.account, orgID) },
		Follow:   SyncAccount(s.queue),
		Forget: func(orgID string) {
			s.accounts.Forget(orgID)
			domains.Account.Forget(orgID)
		},
	}
}
