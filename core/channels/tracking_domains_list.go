package channels

import (
	"context"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// ListTrackingDomainsIn has the size and the cursor of a page of tracking domains.
type ListTrackingDomainsIn struct{ PageIn }

func (c *Channels) trackingDomainsList() core.Operation {
	return core.Declare(core.Op[ListTrackingDomainsIn, core.Page[TrackingDomain]]{
		Name:    "tracking_domains_list",
		Title:   "List tracking domains",
		Purpose: "Pages through the domains that track clicks on links, newest first, with the DNS records that each needs.",
		Example: `{"limit": 2}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.TrackingView},
		Do: func(ctx context.Context, call *core.Call, in ListTrackingDomainsIn) (core.Page[TrackingDomain], error) {
			return pageOf(in.PageIn, "tracking domains", func(after *core.After, limit int) ([]TrackingDomain, error) {
				return c.trackingDomains(ctx, call.Principal.Org.ID, after, limit)
			}, func(d TrackingDomain) core.After { return core.After{At: d.CreatedAt, ID: d.ID} })
		},
	})
}

func (c *Channels) trackingDomains(ctx context.Context, orgID string, after *core.After, limit int) ([]TrackingDomain, error) {
	rows, err := c.Store.TrackingDomains(ctx, orgID, after, limit)
	if err != nil {
		return nil, err
	}
	return rows, c.describe(ctx, orgID, rows)
}

// describe sets the DNS records and the SSL status of every domain in rows.
func (c *Channels) describe(ctx context.Context, orgID string, rows []TrackingDomain) error {
	names := make([]string, len(rows))
	for i, d := range rows {
		names[i] = d.Domain
	}
	tokens, err := c.Store.Tokens(ctx, orgID, names)
	if err != nil {
		return err
	}
	for i, d := range rows {
		rows[i] = d.describe(tokens[d.Domain])
	}
	return nil
}

// GetTrackingDomainIn names a tracking domain.
type GetTrackingDomainIn struct {
	Domain string `json:"domain" jsonschema:"minLength=1,maxLength=253" jsonschema_description:"The domain; case does not matter."`
}

func (c *Channels) trackingDomainsGet() core.Operation {
	return core.Declare(core.Op[GetTrackingDomainIn, TrackingDomain]{
		Name:    "tracking_domains_get",
		Title:   "Read a tracking domain",
		Purpose: "Reads one domain that tracks clicks on links, with the DNS records that it needs.",
		Example: `{"domain": "click.example.com"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.TrackingView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, call *core.Call, in GetTrackingDomainIn) (TrackingDomain, error) {
			org := call.Principal.Org.ID
			d, err := c.Store.TrackingDomain(ctx, org, strings.ToLower(in.Domain))
			if err != nil {
				return TrackingDomain{}, err
			}
			rows := []TrackingDomain{d}
			err = c.describe(ctx, org, rows)
			return rows[0], err
		},
	})
}
