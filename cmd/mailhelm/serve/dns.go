package serve

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/channels/resolver"
	"github.com/mailhelm/mailhelm/core/sending"
)

// accountDNS looks up DNS records for the domains of real accounts. In a simulated
// account every record counts as published, without a lookup.
type accountDNS struct {
	// connection returns the organization's connection. It fails with core.CodeNotFound
	// if there is none.
	connection func(ctx context.Context, orgID string) (sending.Connection, error)
	real       channels.DNS
}

// newDNS returns a lookup through the resolver of the system.
func newDNS(s *stores) accountDNS {
	return accountDNS{connection: s.connections.Connection, real: resolver.System()}
}

// IsPublished reports whether DNS has the record. Without a connection, or with a
// simulated one, it returns true. It fails if the connection cannot be read or no name
// server answers.
func (d accountDNS) IsPublished(ctx context.Context, orgID string, r channels.Record) (bool, error) {
	c, err := d.connection(ctx, orgID)
	if err != nil && core.AsError(err).Code != core.CodeNotFound {
		return false, err
	}
	if err != nil || c.Provider == sending.Simulated {
		return true, nil
	}
	return d.real.IsPublished(ctx, orgID, r)
}
