package main

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/account"
)

type adminProduction struct {
	Deny productionDeny `cmd:"" help:"Record that the provider denied the open request for production access."`
}

// Help is shown below the summary.
func (adminProduction) Help() string {
	return `A provider that denies a request tells the account's owner by mail and shows nobody else. Recording it closes the request, so that another one can be made; otherwise it counts as failed after two weeks.

Examples:

    mailhelm admin production deny acme`
}

type productionDeny struct {
	adminTarget
	Org string `arg:"" help:"Slug or id of the organization."`
}

// Run closes the open request.
func (c *productionDeny) Run(p *program) error {
	return c.with(p, func(ctx context.Context, s *session) error {
		org, err := s.org(ctx, c.Org)
		if err != nil {
			return err
		}
		requests := s.db.ProductionRequests()
		decide := account.New(account.Config{Requests: requests, Clock: s.cfg.Clock})
		err = s.db.InTx(ctx, func(ctx context.Context) error {
			if err := decide.DenyProductionAccess(ctx, org.ID); err != nil {
				return err
			}
			return s.record(ctx, org.ID, "production_access.denied", nil)
		})
		if notFound(err) {
			return core.Conflict("No request for production access was ever made.", "There is nothing to decide.")
		}
		if err != nil {
			return err
		}
		if s.json {
			return s.printJSON(map[string]any{"org_id": org.ID, "status": "denied"})
		}
		return s.printTable("", [][]string{{"org", org.Slug}, {"production access", "denied"}})
	})
}
