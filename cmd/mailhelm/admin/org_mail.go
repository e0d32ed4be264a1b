package admin

import (
	"context"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/approvals"
)

// orgStopMail is `mailhelm admin org stop-mail`.
type orgStopMail struct {
	installation.Target
	Org string `arg:"" help:"Slug or id."`
}

// Run stops all mail of the organization. A running server pauses its broadcasts within a
// second. It may be repeated.
func (c *orgStopMail) Run(p *cli.Program) error { return changeMail(c.Target, p, c.Org, true) }

// orgAllowMail is `mailhelm admin org allow-mail`.
type orgAllowMail struct {
	installation.Target
	Org string `arg:"" help:"Slug or id."`
}

// Run ends the stop of all mail of the organization. A running server continues its
// broadcasts within seconds. It may be repeated.
func (c *orgAllowMail) Run(p *cli.Program) error { return changeMail(c.Target, p, c.Org, false) }

// mailJSON is the form in which --json prints whether mail of an organization leaves.
type mailJSON struct {
	OrgID string `json:"org_id"`
	// Mail is stopped or allowed.
	Mail string `json:"mail"`
}

// changeMail stops all mail of an organization or allows it again.
func changeMail(t installation.Target, p *cli.Program, slug string, stop bool) error {
	return t.WithOrg(p, slug, func(ctx context.Context, s *installation.Session, org core.Org) error {
		limits := approvals.Limits{Store: s.DB.HandoverLimits(), Audit: s.DB.Audit(), Clock: s.Config.Clock}
		change, state := limits.AllowMail, "allowed"
		if stop {
			change, state = limits.StopMail, "stopped"
		}
		err := s.DB.InTx(ctx, func(ctx context.Context) error { return change(ctx, access.ActorOf(access.Operator), org.ID) })
		if err != nil {
			return err
		}
		if s.JSON {
			return s.PrintJSON(mailJSON{org.ID, state})
		}
		return s.PrintTable("", [][]string{{"organization", org.Slug}, {"mail", state}})
	})
}
