package admin

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
)

// orgEdit is `mailhelm admin org edit`. A nil field means that its flag was not given; the
// setting then stays unchanged.
type orgEdit struct {
	installation.Target
	Org                 string  `arg:"" help:"Slug or id."`
	Name                *string `help:"Name for people." once:""`
	RequireSecondFactor *bool   `help:"Require a second factor of members. Members without one must set it up on their next page view." negatable:"" once:""`
	PlatformMode        *bool   `help:"Count temporary inboxes separately for each customer of a platform." negatable:"" once:""`
}

// Run changes the organization's settings for which a flag was given. Without any such flag
// it fails before it opens the database. It may be repeated.
func (c *orgEdit) Run(p *cli.Program) error {
	if c.Name == nil && c.RequireSecondFactor == nil && c.PlatformMode == nil {
		return errors.New("nothing to change: give --name, --require-second-factor or --platform-mode, or --no- before one")
	}
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		edit := members.SettingsEdit{Name: c.Name, RequireSecondFactor: c.RequireSecondFactor, PlatformMode: c.PlatformMode}
		edited, err := membershipsOf(s).EditSettings(ctx, s.Operator().Actor, org.ID, edit, false)
		if err != nil {
			return err
		}
		return printOrg(s, edited)
	})
}

// orgSetLimit is `mailhelm admin org set-limit`. Limit is the number of calls allowed per
// minute, at least 1, or "none".
type orgSetLimit struct {
	installation.Target
	Org   string `arg:"" help:"Slug or id."`
	Limit string `arg:"" help:"Calls per minute, or none."`
}

// Run sets or removes the organization's limit of calls per minute. For an invalid number
// it fails before it opens the database. It may be repeated.
func (c *orgSetLimit) Run(p *cli.Program) error {
	var limit *int
	if c.Limit != "none" {
		n, err := strconv.Atoi(c.Limit)
		if err != nil || n < 1 {
			return fmt.Errorf("limit %q: give a number from 1 up, or none", c.Limit)
		}
		limit = &n
	}
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		if err := s.Operator().SetRateLimit(ctx, org.ID, limit); err != nil {
			return err
		}
		org.RateLimit = limit
		return printOrg(s, org)
	})
}
