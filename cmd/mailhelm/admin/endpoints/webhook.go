package endpoints

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/webhooks"
)

// WebhookCommands is `mailhelm admin webhook`, the commands about endpoints that receive
// message events. A running server applies each change within five seconds.
type WebhookCommands struct {
	List       webhookList       `cmd:"" help:"List an organization's webhook endpoints."`
	Create     webhookCreate     `cmd:"" help:"Create a webhook endpoint and print its signing secret once."`
	Update     webhookUpdate     `cmd:"" help:"Change a webhook endpoint; flags that are not given change nothing."`
	Rotate     webhookRotate     `cmd:"" help:"Replace the signing secret; both secrets sign for 24 hours."`
	Test       webhookTest       `cmd:"" help:"Send a test event to a webhook endpoint."`
	Delete     webhookDelete     `cmd:"" help:"Delete a webhook endpoint and its deliveries."`
	Deliveries webhookDeliveries `cmd:"" help:"List deliveries to a webhook endpoint, newest first."`
	Resend     webhookResend     `cmd:"" help:"Send a delivery again."`
}

// Help returns the text that --help shows below the summary.
func (WebhookCommands) Help() string {
	return `An endpoint receives the events of messages as signed POST requests (Standard Webhooks). Name an endpoint by its id or its URL. Events are names separated by commas, or all: sent, delivered, bounced, complained, opened, clicked, unsubscribed.

Deliveries are repeated for about eleven hours until the endpoint accepts them, and listed for 30 days. The server refuses private addresses unless it is started with --webhook-networks.

Examples:

    mailhelm admin webhook create acme --url https://crm.example.com/mailhelm --events bounced,complained
    mailhelm admin webhook list acme
    mailhelm admin webhook update acme https://crm.example.com/mailhelm --events all --disable
    mailhelm admin webhook rotate acme https://crm.example.com/mailhelm --json
    mailhelm admin webhook deliveries acme https://crm.example.com/mailhelm --failed`
}

// webhookJSON is the form in which --json prints a webhook endpoint.
type webhookJSON struct {
	ID          string               `json:"id"`
	OrgID       string               `json:"org_id"`
	URL         string               `json:"url"`
	Description string               `json:"description"`
	Events      []webhooks.EventType `json:"events"`
	Enabled     bool                 `json:"enabled"`
	// FailingSince is the time of the first failed attempt after the last success, or null.
	FailingSince *time.Time `json:"failing_since"`
	// DisabledAt is the time at which Mailhelm disabled the endpoint because it failed for
	// five days. It is null for other endpoints.
	DisabledAt *time.Time `json:"disabled_at"`
	// OldSecretUntil is the time until which the secret before the last rotation also signs,
	// or null.
	OldSecretUntil *time.Time `json:"old_secret_until"`
	CreatedAt      time.Time  `json:"created_at"`
	// Secret is set only by create and rotate, which print it once. The database stores it
	// encrypted.
	Secret string `json:"secret,omitempty"`
}

// newWebhookJSON returns the printed form of an endpoint. secret is "" unless this command
// created it.
func newWebhookJSON(s *installation.Session, orgID string, e webhooks.Endpoint, secret string) webhookJSON {
	shown := webhookJSON{
		ID: e.ID, OrgID: orgID, URL: e.URL, Description: e.Description, Events: e.Types, Enabled: e.Enabled, FailingSince: e.FailingSince,
		DisabledAt: e.DisabledAt, CreatedAt: e.CreatedAt, Secret: secret,
	}
	if e.IsInGrace(s.Config.Clock()) {
		shown.OldSecretUntil = e.PreviousUntil
	}
	return shown
}

// state returns the state of an endpoint for a table.
func (w webhookJSON) state() string {
	switch {
	case !w.Enabled:
		return "disabled"
	case w.FailingSince != nil:
		return "failing"
	}
	return "enabled"
}

// eventList returns the types of events separated by commas.
func (w webhookJSON) eventList() string {
	names := make([]string, len(w.Events))
	for i, t := range w.Events {
		names[i] = string(t)
	}
	return strings.Join(names, ",")
}

// printWebhook prints one endpoint, as JSON with --json and otherwise as a table.
func printWebhook(s *installation.Session, orgID string, e webhooks.Endpoint, secret string) error {
	shown := newWebhookJSON(s, orgID, e, secret)
	if s.JSON {
		return s.PrintJSON(shown)
	}
	rows := [][]string{
		{"id", shown.ID}, {"url", shown.URL}, {"description", shown.Description}, {"events", shown.eventList()}, {"state", shown.state()},
	}
	if secret != "" {
		rows = append(rows, []string{"secret", secret}, []string{"", "Store it now: it is not shown again."})
	}
	return s.PrintTable("", rows)
}

// endpointsOf returns the operations on endpoints. sealer encrypts secrets; commands that create
// no secret pass nil. The operator may enter private addresses, because the server checks
// the address of each connection.
func endpointsOf(s *installation.Session, sealer webhooks.Sealer) webhooks.Webhooks {
	return webhooks.Webhooks{
		Store: s.DB.Webhooks(), Transactor: s.DB, Audit: s.DB.Audit(), Sealer: sealer, Clock: s.Config.Clock, Networks: true,
	}
}

// findEndpoint returns the endpoint of an organization by its id or URL. It fails if there is no
// such endpoint, and if several have the URL.
func findEndpoint(ctx context.Context, s *installation.Session, org core.Org, ref string) (webhooks.Endpoint, error) {
	all, err := s.DB.Webhooks().Endpoints(ctx, org.ID)
	if err != nil {
		return webhooks.Endpoint{}, err
	}
	var found []webhooks.Endpoint
	for _, e := range all {
		if e.ID == ref || e.URL == ref {
			found = append(found, e)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return webhooks.Endpoint{}, fmt.Errorf("there is no such webhook endpoint in %s: 'mailhelm admin webhook list %s' shows them", org.Slug, org.Slug)
	}
	return webhooks.Endpoint{}, fmt.Errorf("several webhook endpoints have this URL: name one by its id")
}

// parseEvents returns the types of events with these names; all means every type. Unknown
// names are refused when the endpoint is stored.
func parseEvents(names []string) []webhooks.EventType {
	var types []webhooks.EventType
	for _, name := range names {
		if name = strings.TrimSpace(name); name == "all" {
			types = append(types, webhooks.EventTypes()...)
		} else {
			types = append(types, webhooks.EventType(name))
		}
	}
	return types
}

// webhookList is `mailhelm admin webhook list`.
type webhookList struct {
	installation.Target
	Org string `arg:"" help:"Slug or id."`
}

// Run lists the organization's endpoints, oldest first.
func (c *webhookList) Run(p *cli.Program) error {
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		all, err := s.DB.Webhooks().Endpoints(ctx, org.ID)
		if err != nil {
			return err
		}
		return installation.PrintList(s, "webhooks", []string{"URL", "EVENTS", "STATE", "CREATED", "ID"}, all, func(e webhooks.Endpoint) (webhookJSON, []string) {
			one := newWebhookJSON(s, org.ID, e, "")
			return one, []string{one.URL, one.eventList(), one.state(), installation.Instant(&one.CreatedAt), one.ID}
		})
	})
}

// webhookCreate is `mailhelm admin webhook create`.
type webhookCreate struct {
	installation.Target
	config.Master
	Org         string   `arg:"" help:"Slug or id."`
	URL         string   `name:"url" help:"An https URL." required:"" placeholder:"URL" once:""`
	Events      []string `help:"Event names separated by commas, or all." required:"" placeholder:"NAME" once:""`
	Description string   `help:"What the endpoint is for." once:""`
	Disable     bool     `help:"Create the endpoint without sending events to it." once:""`
}

// Run creates the endpoint and prints its secret, which cannot be shown again. Each run
// creates another endpoint. It fails without the server's master key.
func (c *webhookCreate) Run(p *cli.Program) error {
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		master, err := s.MasterKey(c.Master)
		if err != nil {
			return err
		}
		e, secret, err := endpointsOf(s, master).Create(ctx, s.Operator().Actor, org.ID, core.NewID(), webhooks.Settings{
			URL: c.URL, Description: c.Description, Types: parseEvents(c.Events), Enabled: !c.Disable,
		})
		if err != nil {
			return err
		}
		return printWebhook(s, org.ID, e, secret)
	})
}

// webhookTarget holds the arguments that select one endpoint.
type webhookTarget struct {
	installation.Target
	Org      string `arg:"" help:"Slug or id of the organization."`
	Endpoint string `arg:"" help:"Id or URL of the endpoint."`
}

// on finds the endpoint and passes it to the function do.
func (c webhookTarget) on(p *cli.Program, do func(context.Context, *installation.Session, core.Org, webhooks.Endpoint) error) error {
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		e, err := findEndpoint(ctx, s, org, c.Endpoint)
		if err != nil {
			return err
		}
		return do(ctx, s, org, e)
	})
}

// webhookDelete is `mailhelm admin webhook delete`.
type webhookDelete struct{ webhookTarget }

// Run deletes the endpoint. Deliveries that wait are not sent.
func (c *webhookDelete) Run(p *cli.Program) error {
	return c.on(p, func(ctx context.Context, s *installation.Session, org core.Org, e webhooks.Endpoint) error {
		if err := endpointsOf(s, nil).Delete(ctx, s.Operator().Actor, org.ID, e.ID); err != nil && !installation.NotFound(err) {
			return err
		}
		if s.JSON {
			return s.PrintJSON(map[string]any{"deleted": e.ID})
		}
		return s.PrintTable("", [][]string{{"deleted", e.ID}, {"url", e.URL}})
	})
}
