package admin

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core/access"
)

type clientBlock struct {
	target
	Org    string `arg:"" help:"Slug or id of the organization."`
	Client string `arg:"" help:"The client id: the address of its metadata document, or oc_live_..."`
}

// Run blocks the client.
func (c *clientBlock) Run(p *cli.Program) error {
	return c.with(p, func(ctx context.Context, s *session) error {
		return s.setBlocked(ctx, c.Org, c.Client, s.operator.Lifecycle().BlockClient, true)
	})
}

type clientUnblock struct {
	target
	Org    string `arg:"" help:"Slug or id of the organization."`
	Client string `arg:"" help:"The client id, as 'mailhelm admin client blocked' shows it."`
}

// Run unblocks the client.
func (c *clientUnblock) Run(p *cli.Program) error {
	return c.with(p, func(ctx context.Context, s *session) error {
		return s.setBlocked(ctx, c.Org, c.Client, s.operator.Lifecycle().UnblockClient, false)
	})
}

func (s *session) setBlocked(
	ctx context.Context, ref, clientID string, task func(context.Context, access.Actor, string, string) error, blocked bool,
) error {
	org, err := s.Org(ctx, ref)
	if err != nil {
		return err
	}
	if err := task(ctx, s.operator.Actor, org.ID, clientID); err != nil {
		return err
	}
	if s.JSON {
		return s.PrintJSON(map[string]any{"org_id": org.ID, "client_id": clientID, "blocked": blocked})
	}
	state := "not blocked"
	if blocked {
		state = "blocked"
	}
	return s.PrintTable("", [][]string{{"client id", clientID}, {"state", state}})
}

type clientBlocked struct {
	target
	Org string `arg:"" help:"Slug or id."`
}

type blockedJSON struct {
	ClientID  string    `json:"client_id"`
	BlockedAt time.Time `json:"blocked_at"`
}

// Run lists the blocked clients.
func (c *clientBlocked) Run(p *cli.Program) error {
	return c.with(p, func(ctx context.Context, s *session) error {
		org, err := s.Org(ctx, c.Org)
		if err != nil {
			return err
		}
		blocked, err := s.DB.OpenClients().BlockedClients(ctx, org.ID)
		if err != nil {
			return err
		}
		listed, rows := []blockedJSON{}, [][]string{{"CLIENT ID", "BLOCKED"}}
		for _, b := range blocked {
			listed = append(listed, blockedJSON{b.ClientID, b.BlockedAt})
			rows = append(rows, []string{b.ClientID, instant(&b.BlockedAt)})
		}
		if s.JSON {
			return s.PrintJSON(map[string]any{"blocked_clients": listed})
		}
		return s.PrintTable("", rows)
	})
}
