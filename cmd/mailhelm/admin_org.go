package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

type adminOrg struct {
	Create   orgCreate   `cmd:"" help:"Create an organization, with a simulated sending account in the data folder."`
	List     orgList     `cmd:"" help:"List the organizations."`
	Edit     orgEdit     `cmd:"" help:"Change the name, whether second factors are required, and platform mode."`
	SetLimit orgSetLimit `cmd:"" help:"Set or clear the limit of calls a minute."`
}

// Help is shown below the summary.
func (adminOrg) Help() string {
	return `Examples:

    mailhelm admin org create acme --name "Acme Ltd" --tier team
    mailhelm admin org list
    mailhelm admin org edit acme --name "Acme Group" --require-second-factor
    mailhelm admin org set-limit acme 600
    mailhelm admin org set-limit acme none`
}

type orgJSON struct {
	ID            string `json:"id"`
	Slug          string `json:"slug"`
	Name          string `json:"name"`
	Tier          string `json:"tier"`
	RetentionDays int    `json:"retention_days"`
	RateLimit     *int   `json:"rate_limit"`

	RequireSecondFactor bool `json:"require_second_factor"`
	PlatformMode        bool `json:"platform_mode"`
}

func newOrgJSON(o core.Org) orgJSON {
	return orgJSON{o.ID, o.Slug, o.Name, o.Tier, o.RetentionDays, o.RateLimit, o.RequireSecondFactor, o.PlatformMode}
}

func (s *session) printOrg(o core.Org) error {
	if s.json {
		return s.printJSON(newOrgJSON(o))
	}
	return s.printTable("", [][]string{
		{"id", o.ID},
		{"slug", o.Slug},
		{"name", o.Name},
		{"tier", o.Tier},
		{"retention", fmt.Sprintf("%d days", o.RetentionDays)},
		{"limit", limitText(o.RateLimit)},
		{"second factor", requiredText(o.RequireSecondFactor)},
		{"platform mode", onText(o.PlatformMode)},
	})
}

func requiredText(required bool) string {
	if required {
		return "required"
	}
	return "optional"
}

func onText(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func limitText(perMinute *int) string {
	if perMinute == nil {
		return "none"
	}
	return strconv.Itoa(*perMinute) + " a minute"
}

type orgCreate struct {
	adminTarget
	Slug      string `arg:"" help:"URL-safe name: lower-case letters, digits and dashes."`
	Name      string `help:"Name for people. Default: the slug." once:""`
	Tier      string `help:"Plan. It decides how many days back analytics look: free 30, team 90, others 365." enum:"free,team,business,admin,sponsored" default:"free" once:""`
	RateLimit *int   `help:"Calls a minute. Default: no limit." placeholder:"N" once:""`
}

var slugForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// Run creates the organization.
func (c *orgCreate) Run(p *program) error {
	// An id is no slug, so that either names an organization without doubt.
	if !slugForm.MatchString(c.Slug) || core.IsID(c.Slug) {
		return fmt.Errorf("slug %q: give at most 63 lower-case letters, digits and dashes, with no dash at the ends", c.Slug)
	}
	if c.RateLimit != nil && *c.RateLimit < 1 {
		return fmt.Errorf("--rate-limit %d: give a number from 1 up", *c.RateLimit)
	}
	org := core.Org{Name: c.Name, Slug: c.Slug, Tier: c.Tier, RateLimit: c.RateLimit}
	if org.Name == "" {
		org.Name = c.Slug
	}
	return c.with(p, func(ctx context.Context, s *session) error {
		// The account comes first: one that belongs to no organization does no harm.
		err := s.db.InTx(ctx, func(ctx context.Context) error {
			var err error
			if org, err = s.admin.CreateOrg(ctx, org); err != nil {
				return err
			}
			return s.seedAccount(ctx, org.ID)
		})
		if err != nil {
			return err
		}
		return s.printOrg(org)
	})
}

// seedAccount gives an organization a simulated sending account, as new ones are:
// in the sandbox, with a small quota.
func (s *session) seedAccount(ctx context.Context, orgID string) error {
	if err := os.MkdirAll(s.cfg.DataDir, 0o700); err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	account, err := simulator.Open(s.cfg.AccountFile(), simulator.Options{Clock: s.cfg.Clock})
	if err != nil {
		return err
	}
	defer account.Close() //nolint:errcheck // what was written is committed
	return account.Seed(ctx, orgID, simulator.Setup{})
}

type orgList struct{ adminTarget }

// Run lists the organizations.
func (c *orgList) Run(p *program) error {
	return c.with(p, func(ctx context.Context, s *session) error {
		ids, err := s.db.Orgs().OrgIDs(ctx)
		if err != nil {
			return err
		}
		listed, rows := []orgJSON{}, [][]string{{"SLUG", "NAME", "TIER", "LIMIT", "ID"}}
		for _, id := range ids {
			org, err := s.db.Orgs().Org(ctx, id)
			if err != nil {
				return err
			}
			listed = append(listed, newOrgJSON(org))
			rows = append(rows, []string{org.Slug, org.Name, org.Tier, limitText(org.RateLimit), org.ID})
		}
		if s.json {
			return s.printJSON(map[string]any{"organizations": listed})
		}
		return s.printTable("", rows)
	})
}

type orgSetLimit struct {
	adminTarget
	Org   string `arg:"" help:"Slug or id."`
	Limit string `arg:"" help:"Calls a minute, or none."`
}

// Run sets the limit.
func (c *orgSetLimit) Run(p *program) error {
	var limit *int
	if c.Limit != "none" {
		n, err := strconv.Atoi(c.Limit)
		if err != nil || n < 1 {
			return fmt.Errorf("limit %q: give a number from 1 up, or none", c.Limit)
		}
		limit = &n
	}
	return c.with(p, func(ctx context.Context, s *session) error {
		org, err := s.org(ctx, c.Org)
		if err != nil {
			return err
		}
		if err := s.admin.SetRateLimit(ctx, org.ID, limit); err != nil {
			return err
		}
		org.RateLimit = limit
		return s.printOrg(org)
	})
}
