package endpoints

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/receiving"
)

// ReceivedCommands is `mailhelm admin received`, the commands about mail to receiving domains.
type ReceivedCommands struct {
	Resend receivedResend `cmd:"" help:"Send one received message to its webhook again."`
	Replay receivedReplay `cmd:"" help:"Send the messages of a period to the webhook of a receiving domain again."`
}

// Help returns the text that --help shows below the summary.
func (ReceivedCommands) Help() string {
	return `The webhook gets each message with the same webhook-id as before, so a receiver can ignore repeated ones. Only messages whose content is stored can be sent again: those of the last 30 days that were delivered or failed, or that came while the domain had no webhook.

Examples:

    mailhelm admin received resend acme 6ff27c97-e5f2-8d75-a0a0-731fabae64d8
    mailhelm admin received replay acme in.example.com --from 2026-03-01T12:00:00Z --to 2026-03-01T14:00:00Z`
}

// receivedDesk returns the value that sends messages again. A server notices it within a second.
func receivedDesk(s *installation.Session) receiving.Desk {
	return receiving.Desk{
		Domains: s.DB.ReceivingDomains(), Store: s.DB.ReceivedDeliveries(), Transactor: s.DB, Audit: s.DB.Audit(), Clock: s.Config.Clock,
	}
}

// receivedResend is `mailhelm admin received resend`.
type receivedResend struct {
	installation.Target
	Org     string `arg:"" help:"Slug or id of the organization."`
	Message string `arg:"" help:"Id of the message in the log, which is the webhook-id."`
}

// Run makes the delivery of the message due at once.
func (c *receivedResend) Run(p *cli.Program) error {
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		if err := receivedDesk(s).Resend(ctx, s.Operator().Actor, org.ID, c.Message); err != nil {
			return p.Explain(err)
		}
		if s.JSON {
			return s.PrintJSON(map[string]any{"resent": c.Message})
		}
		return s.PrintTable("", [][]string{{"resent", c.Message}})
	})
}

// receivedReplay is `mailhelm admin received replay`.
type receivedReplay struct {
	installation.Target
	Org    string `arg:"" help:"Slug or id of the organization."`
	Domain string `arg:"" help:"Name or id of the receiving domain."`
	From   string `required:"" help:"Begin of the period, such as 2026-03-01T12:00:00Z." placeholder:"WHEN" once:""`
	To     string `help:"End of the period, which is not included. Default: now." placeholder:"WHEN" once:""`
}

// Run makes the deliveries of the messages due at once, and prints their number.
func (c *receivedReplay) Run(p *cli.Program) error {
	from, err := instantOf("--from", c.From)
	if err != nil {
		return err
	}
	var to time.Time
	if c.To != "" {
		if to, err = instantOf("--to", c.To); err != nil {
			return err
		}
	}
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		if c.To == "" {
			to = s.Config.Clock()
		}
		n, err := receivedDesk(s).ResendWindow(ctx, s.Operator().Actor, org.ID, c.Domain, from, to)
		if err != nil {
			return p.Explain(err)
		}
		if s.JSON {
			return s.PrintJSON(map[string]any{"resent": n})
		}
		return s.PrintTable("", [][]string{{"resent", strconv.Itoa(n)}})
	})
}

// instantOf parses an instant in RFC 3339.
func instantOf(flag, text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s %q: give an instant such as 2026-03-01T12:00:00Z", flag, text)
	}
	return at, nil
}
