package receiving

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// ListDomainsIn has no arguments.
type ListDomainsIn struct{}

func (r *Receiving) domainsList() core.Operation {
	return core.Declare(core.Op[ListDomainsIn, core.Collection[Domain]]{
		Name:    "inbound_domains_list",
		Title:   "List receiving domains",
		Purpose: "Lists the receiving domains with their records, state and webhook, oldest first. It does not check the DNS.",
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.InboundView},
		Do: func(ctx context.Context, c *core.Call, _ ListDomainsIn) (core.Collection[Domain], error) {
			all, err := r.Store.Domains(ctx, c.Principal.Org.ID)
			if all == nil {
				all = []Domain{}
			}
			return core.Collection[Domain]{Data: all}, err
		},
	})
}

func (r *Receiving) domainsGet() core.Operation {
	return core.Declare(core.Op[DomainIn, Domain]{
		Name:    "inbound_domains_get",
		Title:   "Read a receiving domain",
		Purpose: "Reads one receiving domain by its name or id. It does not check the DNS; inbound_domains_verify does.",
		Example: `{"domain": "in.example.com"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.InboundView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in DomainIn) (Domain, error) {
			return r.domainOf(ctx, c, in.Domain)
		},
	})
}
