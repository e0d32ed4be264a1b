package credentials

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// clientBlock is `mailhelm admin client block`. It blocks a client that belongs to no
// organization, such as one that registered itself. An organization's own clients are
// revoked instead.
type clientBlock struct {
	installation.Target
	Org    string `arg:"" help:"Slug or id of the organization."`
	Client string `arg:"" help:"The client id: the address of its metadata document, or oc_live_..."`
}

// Run blocks the OAuth client in one organization. It revokes the grants that people of the
// organization gave the client. It fails if an organization owns the client. It may be
// repeated.
func (c *clientBlock) Run(p *cli.Program) error {
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		return setBlocked(ctx, s, org.ID, c.Client, s.Operator().Lifecycle().BlockClient, true)
	})
}

// clientUnblock is `mailhelm admin client unblock`.
type clientUnblock struct {
	installation.Target
	Org    string `arg:"" help:"Slug or id of the organization."`
	Client string `arg:"" help:"The client id, as 'mailhelm admin client blocked' shows it."`
}

// Run unblocks the OAuth client in one organization. Grants that the block revoked stay
// revoked, so people must authorize the client again. It may be repeated.
func (c *clientUnblock) Run(p *cli.Program) error {
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		return setBlocked(ctx, s, org.ID, c.Client, s.Operator().Lifecycle().UnblockClient, false)
	})
}

// setBlocked calls task, which is BlockClient or UnblockClient, and prints the resulting
// state. blocked is the state to print: true after BlockClient. setBlocked prints nothing
// if task fails.
func setBlocked(
	ctx context.Context, s *installation.Session, orgID, clientID string, task func(context.Context, access.Actor, string, string) error, blocked bool,
) error {
	if err := task(ctx, s.Operator().Actor, orgID, clientID); err != nil {
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

// clientBlocked is `mailhelm admin client blocked`. It lists the clients that an
// organization has blocked.
type clientBlocked struct {
	installation.Target
	Org string `arg:"" help:"Slug or id."`
}

// blockedJSON is the form in which --json prints a client that the organization blocks. It
// does not have the client's name, because a client can be blocked before its first use.
type blockedJSON struct {
	ClientID  string    `json:"client_id"`
	BlockedAt time.Time `json:"blocked_at"`
}

// Run lists the blocked clients.
func (c *clientBlocked) Run(p *cli.Program) error {
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		blocked, err := s.DB.OpenClients().BlockedClients(ctx, org.ID)
		if err != nil {
			return err
		}
		return installation.PrintList(s, "blocked_clients", []string{"CLIENT ID", "BLOCKED"}, blocked, func(b access.BlockedClient) (blockedJSON, []string) {
			return blockedJSON{b.ClientID, b.BlockedAt}, []string{b.ClientID, installation.Instant(&b.BlockedAt)}
		})
	})
}
