package outgoing

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/channels/resolver"
	"github.com/mailhelm/mailhelm/core/sending"
)

// AccountDNS looks up DNS records of the domains from which an organization sends. If the
// organization uses a simulated account, every record counts as published.
type AccountDNS struct {
	// connection returns the organization's connection to its sending account. It fails with
	// core.CodeNotFound if no account is connected.
	connection func(ctx context.Context, orgID string) (sending.Connection, error)
	real       channels.DNS
}

// NewDNS returns an AccountDNS that uses the DNS resolver of the operating system.
func NewDNS(connections sending.Connections) AccountDNS {
	return AccountDNS{connection: connections.Connection, real: resolver.System()}
}

// IsPublished reports whether DNS has the record. For an organization without a connected
// account, or with a simulated one, it returns true without a lookup. It fails if the
// connection cannot be read or no name server answers.
func (d AccountDNS) IsPublished(ctx context.Context, orgID string, r channels.Record) (bool, error) {
	c, err := d.connection(ctx, orgID)
	if err != nil && core.AsError(err).Code != core.CodeNotFound {
		return false, err
	}
	if err != nil || c.Provider == sending.Simulated {
		return true, nil
	}
	return d.real.IsPublished(ctx, orgID, r)
}
