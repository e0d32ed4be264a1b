package main

import (
	"context"
	"errors"
	"github.com/mailhelm/mailhelm/core/members"
)

type orgEdit struct {
	adminTarget
	Org                 string  `arg:"" help:"Slug or id."`
	Name                *string `help:"Name for people." once:""`
	RequireSecondFactor *bool   `help:"Whether members must have a second factor. Those without one set it up when they next open a page." negatable:"" once:""`
	PlatformMode        *bool   `help:"Whether temporary inboxes are counted for each account of a platform's customers." negatable:"" once:""`
}

// Run changes the settings that were given.
func (c *orgEdit) Run(p *program) error {
	if c.Name == nil && c.RequireSecondFactor == nil && c.PlatformMode == nil {
		return errors.New("nothing to change: give --name, --require-second-factor or --platform-mode, or --no- before one")
	}
	return c.with(p, func(ctx context.Context, s *session) error {
		org, err := s.org(ctx, c.Org)
		if err != nil {
			return err
		}
		edit := members.SettingsEdit{Name: c.Name, RequireSecondFactor: c.RequireSecondFactor, PlatformMode: c.PlatformMode}
		if org, err = s.memberships().EditSettings(ctx, s.admin.Actor, org.ID, edit, false); err != nil {
			return err
		}
		return s.printOrg(org)
	})
}
