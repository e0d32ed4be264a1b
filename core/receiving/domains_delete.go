package receiving

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

func (r *Receiving) domainsDelete() core.Operation {
	return core.Declare(core.Op[DomainIn, core.Deleted]{
		Name:    "inbound_domains_delete",
		Title:   "Delete a receiving domain",
		Purpose: "Deletes a receiving domain with its webhook, its addresses and the stored content of its mail, irreversibly. Mail that still comes is logged as unknown_domain for 30 days, then refused. It does not remove DNS records or entries of the log.",
		Example: `{"domain": "former.example.com"}`,
		Effect:  core.Destroys,
		Scopes:  []core.Scope{core.InboundManage},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in DomainIn) (core.Deleted, error) {
			d, err := r.domainOf(ctx, c, in.Domain)
			if err != nil {
				return core.Deleted{}, err
			}
			org := c.Principal.Org.ID
			if err := r.Ending.EndDeliveries(ctx, org, d.ID, "The receiving domain was deleted.", c.Now); err != nil {
				return core.Deleted{}, err
			}
			c.SetSubject(d.ID)
			r.publishSoon(c)
			return core.Deleted{Deleted: true}, r.Store.DeleteDomain(ctx, org, d.ID, c.Now)
		},
	})
}
