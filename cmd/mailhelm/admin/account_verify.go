package admin

import (
	"context"
	"errors"
	"slices"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/accounts"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// accountVerify is `mailhelm admin account verify`. It contacts the sending account to
// check it, but sends no mail.
type accountVerify struct{ accountTarget }

// verifiedJSON is the form in which --json prints the result of checking a sending account.
// Each finding is the result of one check. Status is the worst verdict among the findings.
type verifiedJSON struct {
	OrgID    string            `json:"org_id"`
	Status   sending.Verdict   `json:"status"`
	Findings []sending.Finding `json:"findings"`
}

// Run checks the sending account and prints all findings. If the account's id at Amazon was
// unknown, Run stores it. The exit status is 1 if a finding has the verdict Broken;
// warnings leave it at 0. Run may be repeated.
func (c *accountVerify) Run(p *cli.Program) error {
	return c.on(p, func(ctx context.Context, s accountSession) error {
		connected, err := s.connection(ctx)
		if err != nil {
			return err
		}
		findings, overview, err := s.examine(ctx, connected)
		if err != nil {
			return err
		}
		if connected.AccountID == "" && overview.AccountID != "" && connected.Provider == sending.SES {
			if _, err := s.connecting.SetAccountID(ctx, s.org.ID, overview.AccountID); err != nil {
				return err
			}
		}
		status := worst(findings)
		if s.JSON {
			err = s.PrintJSON(verifiedJSON{OrgID: s.org.ID, Status: status, Findings: findings})
		} else {
			err = printFindings(s.Program, findings)
		}
		if err == nil && status == sending.Broken {
			return cli.ErrReported
		}
		return err
	})
}

// examine checks the sending account of the connection c, through the same provider
// adapters as a server. Problems of the account are findings, not errors. An error means
// that the command was interrupted or that something failed on this machine.
func (s accountSession) examine(ctx context.Context, c sending.Connection) ([]sending.Finding, sending.Overview, error) {
	embedded, err := simulator.Open(s.Config.AccountFile(), simulator.Options{Clock: s.Config.Clock})
	if err != nil {
		return nil, sending.Overview{}, err
	}
	lists := accounts.NewConsent(s.DB.DB, embedded, s.Config.Log)
	adapters, err := accounts.NewAdapters(s.Config, lists)
	if err != nil {
		return nil, sending.Overview{}, errors.Join(err, embedded.Close())
	}
	accounts := sending.NewAccounts(sending.AccountsConfig{
		Connections: s.connections, Otherwise: embedded, Open: adapters.Open, Prepare: lists.Prepare, Clock: s.Config.Clock,
	})
	findings, overview := sending.Examine(ctx, accounts, c)
	return findings, overview, errors.Join(ctx.Err(), adapters.Close(), embedded.Close())
}

// worst returns the worst verdict among the findings: Broken, then Warning, then Fine.
// Without findings it returns Fine.
func worst(findings []sending.Finding) sending.Verdict {
	for _, verdict := range []sending.Verdict{sending.Broken, sending.Warning} {
		if slices.ContainsFunc(findings, func(f sending.Finding) bool { return f.Verdict == verdict }) {
			return verdict
		}
	}
	return sending.Fine
}

// printFindings prints one table row for each finding: verdict, name and detail. If the
// finding proposes a next step, a second row holds it.
func printFindings(p *cli.Program, findings []sending.Finding) error {
	var rows [][]string
	for _, f := range findings {
		rows = append(rows, []string{string(f.Verdict), f.Name, f.Detail})
		if f.Next != "" {
			rows = append(rows, []string{"", "", "-> " + f.Next})
		}
	}
	return p.PrintTable("", rows)
}
