package receiving

import (
	"context"
	"fmt"
	"slices"

	"github.com/mailhelm/mailhelm/core"
)

// maxDomains is the maximum number of receiving domains of an organization. Concurrent
// creations may exceed it by a few.
const maxDomains = 100

// CreateDomainIn names a new receiving domain.
type CreateDomainIn struct {
	Domain string `json:"domain" jsonschema:"minLength=1,maxLength=254" jsonschema_description:"Name of the domain: a verified sending domain or a name below one. Its mail will come here, so use a subdomain if people have mailboxes at the domain."`
}

func (r *Receiving) domainsCreate() core.Operation {
	return core.Declare(core.Op[CreateDomainIn, Domain]{
		Name:    "inbound_domains_create",
		Title:   "Add a receiving domain",
		Purpose: "Records a domain to receive mail at. Returns the DNS records to publish, which are then checked in the background. It refuses with `conflict` a domain that is recorded. It publishes no record and sets no webhook.",
		Example: `{"domain": "support.example.com"}`,
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.InboundManage},
		Fails:   []core.Code{core.CodeReceivingDomainNotOwned, core.CodeInboundNotDeployed},
		Do:      r.createDomain,
	})
}

func (r *Receiving) createDomain(ctx context.Context, c *core.Call, in CreateDomainIn) (Domain, error) {
	name, err := domainName(in.Domain)
	if err != nil {
		return Domain{}, err
	}
	if slices.Contains(r.Reserved, name) {
		return Domain{}, core.Invalid("domain", "is a domain of this installation; choose one of your own")
	}
	org := c.Principal.Org.ID
	where, err := r.placeFor(ctx, org, name)
	if err != nil {
		return Domain{}, err
	}
	all, err := r.Store.Domains(ctx, org)
	if err != nil {
		return Domain{}, err
	}
	if len(all) >= maxDomains {
		return Domain{}, core.Invalid("domain", fmt.Sprintf("would exceed the limit of %d receiving domains; delete one first", maxDomains))
	}
	d := Domain{
		ID: core.NewID(), Domain: name, Status: PendingDNS, Region: where.region, CrossRegion: where.crossRegion, Records: where.records,
		CreatedAt: c.Now, CheckAt: &c.Now,
	}
	c.SetSubject(d.ID)
	return d, r.Store.InsertDomain(ctx, org, d)
}

// placeFor returns where a domain is received. It fails with core.CodeInboundNotDeployed, or
// with core.CodeReceivingDomainNotOwned.
func (r *Receiving) placeFor(ctx context.Context, orgID, name string) (place, error) {
	if r.Receivers.MailHost == "" && len(r.Receivers.Regions) == 0 {
		return place{}, notDeployed()
	}
	owner, err := r.owner(ctx, orgID, name)
	if core.IsNotFound(err) {
		return place{}, notOwned(name)
	}
	if err != nil {
		return place{}, err
	}
	return r.placeOf(ctx, orgID, name, owner)
}
