package host

import (
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/account"
	"github.com/mailhelm/mailhelm/core/audience"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/storage"
)

// newDomains are the parts of the product that do the work, for the surfaces, the
// pages and the jobs alike.
func newDomains(cfg config.Config, s *stores) catalogue.Domains {
	return catalogue.Domains{
		Account:     account.New(account.Config{Account: s.accounts, Clock: cfg.Clock}),
		Account: account.New(account.Config{
			Account: s.account, Connections: s.db.Connections(s.master), Mirror: s.db.Channels(), Requests: s.db.ProductionRequests(),
			Orgs: s.db.Access().OrgIDs, Clock: cfg.Clock, Log: cfg.Log,
		}),
		Messages:    messages.New(messages.Config{Clock: cfg.Clock}),
		Reports:     reports.New(reports.Config{Store: s.db.Reports(), Clock: cfg.Clock}),
		Account:     account.New(account.Config{Account: s.account, Clock: cfg.Clock}),
		Messages:    messages.New(messages.Config{Store: s.db.Messages(), Transactor: s.db, Recorders: recorders(s.db, cfg.Clock), Clock: cfg.Clock}),
		Reports:     reports.New(reports.Config{Clock: cfg.Clock}),
		Suppression: suppression.New(suppression.Config{Clock: cfg.Clock}),
		Reports:     reports.New(reports.Config{Clock: cfg.Clock}),
		Suppression: suppression.New(suppression.Config{Account: s.account, Store: s.db.Suppression(), Transactor: s.db, Orgs: s.db.Access().OrgIDs, Clock: cfg.Clock, Log: cfg.Log}),
		Channels:    channels.New(channels.Config{Clock: cfg.Clock}),
		Templates:   templates.New(templates.Config{Clock: cfg.Clock}),
		Channels: channels.New(channels.Config{
			Store: s.db.Channels(), Account: s.account, DNS: newDNS(s), Orgs: s.db.Access().OrgIDs, Clock: cfg.Clock, Log: cfg.Log,
		}),
		Templates: templates.New(templates.Config{
			Store: s.db.Templates(), Account: s.account, Orgs: s.db.Access().OrgIDs, Clock: cfg.Clock, Log: cfg.Log,
		}),
		Audience: audience.New(audience.Config{
			Store: s.db.Audience(), Account: s.accounts, Orgs: s.db.Access().OrgIDs, Clock: cfg.Clock, Log: cfg.Log,
		}),
	}
}

// Events takes events in as the running product does, for whoever brings them in
// another way. It answers nothing about them.
func Events(db *storage.DB, clock core.Clock) *messages.Messages {
	return messages.New(messages.Config{Store: db.Messages(), Transactor: db, Recorders: recorders(db, clock), Clock: clock})
}

// recorders are the parts that keep figures of their own from events.
func recorders(_ *storage.DB, _ core.Clock) []messages.Recorder { return nil }
