package serve

import (
	"context"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/mailsettings"
	"github.com/mailhelm/mailhelm/core/templates"
)

// newMailSettings returns the mail settings of organizations. A change deploys all managed
// templates again, because the account has them as they were finished before.
func newMailSettings(cfg config.Config, s *stores) *mailsettings.MailSettings {
	return mailsettings.New(mailsettings.Config{Store: s.db.MailSettings(), Clock: cfg.Clock, OnChange: func(ctx context.Context, orgID string) error {
		return s.queue.Enqueue(ctx, templates.DeployArgs{OrgID: orgID})
	}})
}

// newDeployer returns the value that puts managed templates into sending accounts.
// shown gives images their addresses.
func newDeployer(cfg config.Config, s *stores, shown templates.Images) *templates.Deployer {
	return templates.NewDeployer(templates.DeployConfig{
		Store: s.db.Deployments(), Managed: s.db.ManagedTemplates(), Account: s.accounts, Settings: newMailSettings(cfg, s), Images: shown, Orgs: s.db.Orgs().OrgIDs,
		Clock: cfg.Clock, Log: cfg.Log, Wait: core.Sleep,
	})
}
