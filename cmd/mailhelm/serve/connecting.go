package serve

import (
	"context"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/accounts"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/sending"
)

// newConnecting returns the functions that change an organization's connection to its
// sending account. This process uses a changed connection at once, others when they are notified; see
// [stores.followChanges]. Connecting an account also enqueues the jobs that copy its channels,
// templates and topics.
func newConnecting(cfg config.Config, s *stores, domains catalogue.Domains) sending.Connecting {
	return sending.Connecting{
		Connections: s.connections, Transactor: s.db, Clock: cfg.Clock,
		KeepList: func(ctx context.Context, orgID string, provider sending.Provider) error {
			if provider == sending.SMTP {
				return s.db.Consent().EnsureContactList(ctx, orgID)
			}
			return accounts.KeepList(ctx, s.account, orgID)
		},
		Follow: accounts.SyncAccount(s.queue),
		Forget: remembered{s, domains}.forgetAccount,
	}
}
