package admin

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// clientBlock is `mailhelm admin client block`, for clients that belong to no
// organization. An organization revokes its own clients instead.
type clientBlock struct {
	target
	Org    string `arg:"" help:"Slug or id of the organization."`
	Client string `arg:"" help:"The client id: the address of its metadata document, or oc_live_..."`
}

// Run blocks the client. It revokes the grants that people of the organization gave the
// client. It fails for a client of an organization. It may be repeated.
func (c *clientBlock) Run(p *cli.Program) error {
	return c.withOrg(p, c.Org, func(ctx context.Context, s *session, org core.Org) error {
		return s.setBlocked(ctx, org.ID, c.Client, s.operator.Lifecycle().BlockClient, true)
	})
}

// clientUnblock is `mailhelm admin client unblock`.
type clientUnblock struct {
	target
	Org    string `arg:"" help:"Slug or id of the organization."`
	Client string `arg:"" help:"The client id, as 'mailhelm admin client blocked' shows it."`
}

// Run unblocks the client. Earlier grants stay revoked: people authorize the client
// again. It may be repeated.
func (c *clientUnblock) Run(p *cli.Program) error {
	return c.withOrg(p, c.Org, func(ctx context.Context, s *session, org core.Org) error {
		return s.setBlocked(ctx, org.ID, c.Client, s.operator.Lifecycle().UnblockClient, false)
	})
}

// setBlocked calls task for a client of an organization and prints the new state. task
// is BlockClient or UnblockClient; blocked is the state after it. It prints nothing if
// task fails.
func (s *session) setBlocked(
	ctx context.Context, orgID, clientID string, task func(context.Context, access.Actor, string, string) error, blocked bool,
) error {
	if err := task(ctx, s.operator.Actor, orgID, clientID); err != nil {
		return err
	}
	if s.JSON {
		return s.PrintJSON(map[string]any{"org_id": orgID, "client_id": clientID, "blocked": blocked})
	}
	state := "not blocked"
	if blocked {
		state = "blocked"
	}
	return s.PrintTable("", [][]string{{"client id", clientID}, {"state", state}})
}

// clientBlocked is `mailhelm admin client blocked`.
type clientBlocked struct {
	target
	Org string `arg:"" help:"Slug or id."`
}

// blockedJSON is the form in which --json prints a blocked client. The client may never
// have been used here.
type blockedJSON struct {
	ClientID  string    `json:"client_id"`
	BlockedAt time.Time `json:"blocked_at"`
}

// Run lists the blocked clients.
func (c *clientBlocked) Run(p *cli.Program) error {
	return c.withOrg(p, c.Org, func(ctx context.Context, s *session, org core.Org) error {
		blocked, err := s.DB.OpenClients().BlockedClients(ctx, org.ID)
		if err != nil {
			return err
		}
		return printList(s, "blocked_clients", []string{"CLIENT ID", "BLOCKED"}, blocked, func(b access.BlockedClient) (blockedJSON, []string) {
			return blockedJSON{b.ClientID, b.BlockedAt}, []string{b.ClientID, instant(&b.BlockedAt)}
		})
	})
}
