package admin

import (
	"context"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/account"
)

// ProductionCommands is `mailhelm admin production`. It closes requests for production
// access, which organizations make through the API.
type ProductionCommands struct {
	Deny productionDeny `cmd:"" help:"Record that the provider denied the open request."`
}

// Help returns the text that --help shows below the summary.
func (ProductionCommands) Help() string {
	return `A provider reports a denied request only to the owner of the account, by mail. Record the denial to close the request, so that a new one can be made. Otherwise the request counts as failed after two weeks.

Examples:

    mailhelm admin production deny acme`
}

// productionDeny is `mailhelm admin production deny`. It closes an organization's request
// for production access as denied.
type productionDeny struct {
	installation.Target
	Org string `arg:"" help:"Slug or id of the organization."`
}

// Run marks the open request for production access as denied. It records the denial in the
// audit log in the same transaction. It fails if no request is open, so repeating it fails.
func (c *productionDeny) Run(p *cli.Program) error {
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		requests := s.DB.ProductionRequests()
		decide := account.New(account.Config{Requests: requests, Clock: s.Config.Clock})
		err := s.DB.InTx(ctx, func(ctx context.Context) error {
			if err := decide.DenyProductionAccess(ctx, org.ID); err != nil {
				return err
			}
			return s.Record(ctx, org.ID, "production_access.denied", nil)
		})
		if installation.NotFound(err) {
			return core.Conflict("No request for production access was ever made.", "There is nothing to close.")
		}
		if err != nil {
			return err
		}
		if s.JSON {
			return s.PrintJSON(map[string]any{"org_id": org.ID, "status": "denied"})
		}
		return s.PrintTable("", [][]string{{"org", org.Slug}, {"production access", "denied"}})
	})
}
