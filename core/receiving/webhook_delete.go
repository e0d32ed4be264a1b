package receiving

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

func (r *Receiving) webhookDelete() core.Operation {
	return core.Declare(core.Op[DomainIn, Domain]{
		Name:    "inbound_webhook_delete",
		Title:   "Remove the webhook of a receiving domain",
		Purpose: "Removes the URL, the patterns, the postures and the secret of a receiving domain's webhook, and returns the domain. Mail that comes then is logged as unknown_domain, and deliveries that wait end. It does not delete the domain or its addresses. A domain without a webhook is returned as it is.",
		Example: `{"domain": "orders.example.com"}`,
		Effect:  core.Destroys,
		Scopes:  []core.Scope{core.InboundManage},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in DomainIn) (Domain, error) {
			d, err := r.domainOf(ctx, c, in.Domain)
			if err != nil || d.Webhook == nil {
				return d, err
			}
			org := c.Principal.Org.ID
			d.Webhook, d.Secret, d.FailingSince = nil, nil, nil
			d = d.changed(c.Now)
			if err := r.Ending.EndDeliveries(ctx, org, d.ID, "The webhook was removed.", c.Now); err != nil {
				return Domain{}, err
			}
			c.SetSubject(d.ID)
			r.publishSoon(c)
			return d, r.Store.UpdateDomain(ctx, org, d)
		},
	})
}

func (r *Receiving) webhookRotate() core.Operation {
	return core.Declare(core.Op[DomainIn, DomainWithSecret]{
		Name:    "inbound_webhook_rotate_secret",
		Title:   "Rotate the secret of a webhook",
		Purpose: "Replaces the secret that signs deliveries to a receiving domain's webhook, irreversibly and at once. Returns the domain with the new secret, which cannot be read again. The old secret signs nothing more, so receivers refuse deliveries until they have the new one. It refuses with `webhook_not_set` a domain without a webhook.",
		Example: `{"domain": "in.example.com"}`,
		Effect:  core.Destroys,
		Scopes:  []core.Scope{core.InboundManage},
		Fails:   []core.Code{core.CodeNotFound, core.CodeWebhookNotSet},
		Do: func(ctx context.Context, c *core.Call, in DomainIn) (DomainWithSecret, error) {
			d, err := r.domainOf(ctx, c, in.Domain)
			if err != nil {
				return DomainWithSecret{}, err
			}
			if d.Webhook == nil {
				return DomainWithSecret{}, &core.Error{Code: core.CodeWebhookNotSet, Message: "The receiving domain " + d.Domain + " has no webhook."}
			}
			var out DomainWithSecret
			if out.Domain, out.HMACSecret, err = r.mint(c.Principal.Org.ID, d); err != nil {
				return DomainWithSecret{}, err
			}
			out.Minted = out.Domain.SecretNumber
			c.SetSubject(d.ID)
			return out, r.Store.UpdateDomain(ctx, c.Principal.Org.ID, out.Domain)
		},
		Recall: r.recallSecret,
	})
}
