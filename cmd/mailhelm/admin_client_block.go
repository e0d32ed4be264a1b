package main

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/access"
)

type clientBlock struct {
	adminTarget
	Org    string `arg:"" help:"Slug or id of the organization."`
	Client string `arg:"" help:"The client id: the address of its metadata document, or oc_live_..."`
}

// Run blocks the client.
func (c *clientBlock) Run(p *program) error {
	return c.with(p, func(ctx context.Context, s *session) error {
		return s.setBlocked(ctx, c.Org, c.Client, s.admin.Lifecycle().BlockClient, true)
	})
}

type clientUnblock struct {
	adminTarget
	Org    string `arg:"" help:"Slug or id of the organization."`
	Client string `arg:"" help:"The client id, as 'mailhelm admin client blocked' shows it."`
}

// Run unblocks the client.
func (c *clientUnblock) Run(p *program) error {
	return c.with(p, func(ctx context.Context, s *session) error {
		return s.setBlocked(ctx, c.Org, c.Client, s.admin.Lifecycle().UnblockClient, false)
	})
}

func (s *session) setBlocked(
	ctx context.Context, ref, clientID string, task func(context.Context, access.Actor, string, string) error, blocked bool,
) error {
	org, err := s.org(ctx, ref)
	if err != nil {
		return err
	}
	if err := task(ctx, s.admin.Actor, org.ID, clientID); err != nil {
		return err
	}
	if s.json {
		return s.printJSON(map[string]any{"org_id": org.ID, "client_id": clientID, "blocked": blocked})
	}
	state := "let in"
	if blocked {
		state = "blocked"
	}
	return s.printTable("", [][]string{{"client id", clientID}, {"state", state}})
}

type clientBlocked struct {
	adminTarget
	Org string `arg:"" help:"Slug or id."`
}

type blockedJSON struct {
	ClientID  string    `json:"client_id"`
	BlockedAt time.Time `json:"blocked_at"`
}

// Run lists what is blocked.
func (c *clientBlocked) Run(p *program) error {
	return c.with(p, func(ctx context.Context, s *session) error {
		org, err := s.org(ctx, c.Org)
		if err != nil {
			return err
		}
		blocked, err := s.db.OpenClients().BlockedClients(ctx, org.ID)
		if err != nil {
			return err
		}
		listed, rows := []blockedJSON{}, [][]string{{"CLIENT ID", "BLOCKED"}}
		for _, b := range blocked {
			listed = append(listed, blockedJSON{b.ClientID, b.BlockedAt})
			rows = append(rows, []string{b.ClientID, instant(&b.BlockedAt)})
		}
		if s.json {
			return s.printJSON(map[string]any{"blocked_clients": listed})
		}
		return s.printTable("", rows)
	})
}
