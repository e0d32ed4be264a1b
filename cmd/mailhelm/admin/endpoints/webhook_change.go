package endpoints

import (
	"context"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/webhooks"
)

// webhookUpdate is `mailhelm admin webhook update`. A flag that is not given keeps the
// stored value.
type webhookUpdate struct {
	webhookTarget
	URL         *string  `name:"url" help:"An https URL." placeholder:"URL" once:""`
	Events      []string `help:"Event names separated by commas, or all. They replace the events so far." placeholder:"NAME" once:""`
	Description *string  `help:"What the endpoint is for; empty removes it." once:""`
	Enable      bool     `help:"Send events to the endpoint again, also after it failed for five days." once:"" xor:"enabled"`
	Disable     bool     `help:"Send no events to the endpoint. Deliveries that wait are sent when it is enabled again." once:"" xor:"enabled"`
}

// Run changes the endpoint and prints it.
func (c *webhookUpdate) Run(p *cli.Program) error {
	return c.on(p, func(ctx context.Context, s *installation.Session, org core.Org, e webhooks.Endpoint) error {
		changed, err := endpointsOf(s, nil).Edit(ctx, s.Operator().Actor, org.ID, e.ID, c.settings(e))
		if err != nil {
			return err
		}
		return printWebhook(s, org.ID, changed, "")
	})
}

// settings returns the settings of the endpoint with the values of the given flags.
func (c *webhookUpdate) settings(e webhooks.Endpoint) webhooks.Settings {
	s := webhooks.Settings{URL: e.URL, Description: e.Description, Types: e.Types, Enabled: (e.Enabled || c.Enable) && !c.Disable}
	if c.URL != nil {
		s.URL = *c.URL
	}
	if c.Description != nil {
		s.Description = *c.Description
	}
	if c.Events != nil {
		s.Types = parseEvents(c.Events)
	}
	return s
}

// webhookRotate is `mailhelm admin webhook rotate`.
type webhookRotate struct {
	webhookTarget
	config.Master
}

// Run gives the endpoint a new secret and prints it. The old secret also signs for 24
// hours. It fails without the server's master key.
func (c *webhookRotate) Run(p *cli.Program) error {
	return c.on(p, func(ctx context.Context, s *installation.Session, org core.Org, e webhooks.Endpoint) error {
		master, err := s.MasterKey(c.Master)
		if err != nil {
			return err
		}
		changed, secret, err := endpointsOf(s, master).Rotate(ctx, s.Operator().Actor, org.ID, e.ID)
		if err != nil {
			return err
		}
		return printWebhook(s, org.ID, changed, secret)
	})
}

// webhookTest is `mailhelm admin webhook test`.
type webhookTest struct{ webhookTarget }

// Run creates a delivery with an invented event, which a running server sends, and prints
// the delivery.
func (c *webhookTest) Run(p *cli.Program) error {
	return c.on(p, func(ctx context.Context, s *installation.Session, org core.Org, e webhooks.Endpoint) error {
		d, err := endpointsOf(s, nil).SendTest(ctx, s.Operator().Actor, org.ID, e.ID)
		if err != nil {
			return p.Explain(err)
		}
		return printDelivery(s, d)
	})
}

// webhookResend is `mailhelm admin webhook resend`.
type webhookResend struct {
	webhookTarget
	Delivery string `arg:"" help:"Id of the delivery."`
}

// Run makes the delivery due at once, with the same webhook-id, and prints it.
func (c *webhookResend) Run(p *cli.Program) error {
	return c.on(p, func(ctx context.Context, s *installation.Session, org core.Org, e webhooks.Endpoint) error {
		if err := endpointsOf(s, nil).Resend(ctx, s.Operator().Actor, org.ID, e.ID, c.Delivery); err != nil {
			return p.Explain(err)
		}
		d, err := s.DB.Webhooks().Delivery(ctx, org.ID, e.ID, c.Delivery)
		if err != nil {
			return err
		}
		return printDelivery(s, d)
	})
}
