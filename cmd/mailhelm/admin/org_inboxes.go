package admin

import (
	"context"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/inboxes"
)

// orgDisableInboxes is `mailhelm admin org disable-inboxes`.
type orgDisableInboxes struct {
	installation.Target
	Org string `arg:"" help:"Slug or id."`
}

// Run refuses new temporary inboxes of the organization. Live ones stay until they expire. It
// may be repeated.
func (c *orgDisableInboxes) Run(p *cli.Program) error { return changeInboxes(c.Target, p, c.Org, true) }

// orgEnableInboxes is `mailhelm admin org enable-inboxes`.
type orgEnableInboxes struct {
	installation.Target
	Org string `arg:"" help:"Slug or id."`
}

// Run allows new temporary inboxes of the organization again. It may be repeated.
func (c *orgEnableInboxes) Run(p *cli.Program) error { return changeInboxes(c.Target, p, c.Org, false) }

// inboxesJSON is the form in which --json prints whether an organization may create inboxes.
type inboxesJSON struct {
	OrgID string `json:"org_id"`
	// Inboxes is disabled or enabled.
	Inboxes string `json:"inboxes"`
}

// changeInboxes allows an organization new temporary inboxes or not.
func changeInboxes(t installation.Target, p *cli.Program, slug string, disable bool) error {
	return t.WithOrg(p, slug, func(ctx context.Context, s *installation.Session, org core.Org) error {
		change := inboxes.Switch{Store: s.DB.Inboxes(), Audit: s.DB.Audit(), Clock: s.Config.Clock}
		err := s.DB.InTx(ctx, func(ctx context.Context) error {
			return change.SetDisabled(ctx, access.ActorOf(access.Operator), org.ID, disable)
		})
		if err != nil {
			return err
		}
		state := "enabled"
		if disable {
			state = "disabled"
		}
		if s.JSON {
			return s.PrintJSON(inboxesJSON{org.ID, state})
		}
		return s.PrintTable("", [][]string{{"organization", org.Slug}, {"inboxes", state}})
	})
}
