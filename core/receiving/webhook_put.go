package receiving

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/standardhooks"
)

// PutWebhookIn has the whole webhook of a domain.
type PutWebhookIn struct {
	DomainIn
	WebhookURL    string   `json:"webhook_url" jsonschema:"minLength=1,maxLength=2000" jsonschema_description:"https URL that gets the mail. Its host must have only public addresses."`
	AllowPatterns []string `json:"allow_patterns,omitempty" jsonschema:"nullable,maxItems=1000" jsonschema_description:"Globs of local parts without @: * is any text, ? one character, case has no meaning. Default: all mail is delivered."`
	SpamPosture   Posture  `json:"spam_posture,omitempty" jsonschema:"enum=tag,enum=drop,default=tag" jsonschema_description:"Whether mail with the spam verdict FAIL is delivered with its verdict (tag) or not at all (drop)."`
	VirusPosture  Posture  `json:"virus_posture,omitempty" jsonschema:"enum=tag,enum=drop,default=drop" jsonschema_description:"The same for the virus verdict."`
}

// DomainWithSecret is a domain after a change of its webhook.
type DomainWithSecret struct {
	Domain Domain `json:"domain"`
	// Minted is the number of the secret that the call created, 0 if it created none.
	Minted int `json:"minted"`
	// HMACSecret is part of the result of the call that created it. The result that is stored for
	// replays does not contain it.
	HMACSecret string `json:"-"`
}

// DomainWithSecretView is the form of [DomainWithSecret] in a REST response: the domain with
// the secret, if the call created it.
type DomainWithSecretView struct {
	Domain
	HMACSecret string `json:"hmac_secret,omitempty" voice:"ours" jsonschema_description:"Secret that signs deliveries (Standard Webhooks), only in the answer to the call that created it. It cannot be read again."`
}

// RESTView returns the form of the result in a REST response.
func (d DomainWithSecret) RESTView() DomainWithSecretView {
	return DomainWithSecretView{Domain: d.Domain, HMACSecret: d.HMACSecret}
}

func (r *Receiving) webhookPut() core.Operation {
	return core.Declare(core.Op[PutWebhookIn, DomainWithSecret]{
		Name:  "inbound_webhook_replace",
		Title: "Set the webhook of a receiving domain",
		Purpose: "Replaces the whole webhook of a receiving domain: its URL, which local parts are delivered, and what happens to spam and malware. " +
			"Returns the domain, and the signing secret only if the domain had no webhook. It takes effect within seconds. It does not change the secret of a webhook that exists.",
		Example: `{"domain": "in.example.com", "webhook_url": "https://example.com/mail", "allow_patterns": ["support", "orders-*"]}`,
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.InboundManage},
		Fails:   []core.Code{core.CodeNotFound},
		Prepare: r.prepareWebhook,
		Do:      r.putWebhook,
		Recall:  r.recallSecret,
	})
}

// prepareWebhook checks the arguments and looks up the host of the URL.
func (r *Receiving) prepareWebhook(ctx context.Context, _ *core.Call, in PutWebhookIn) (PutWebhookIn, error) {
	var err error
	if in.AllowPatterns, err = checkPatterns(in.AllowPatterns); err != nil {
		return in, err
	}
	if err := checkURL(in.WebhookURL, r.Networks); err != nil {
		return in, err
	}
	problem := r.Hosts.Resolve(ctx, in.WebhookURL)
	if reason := unfitHost(problem); reason != "" {
		return in, core.Invalid("webhook_url", reason)
	}
	if problem != standardhooks.NoProblem {
		return in, core.Invalid("webhook_url", "must have a host that the DNS knows; no name server answered, so try again in a minute")
	}
	return in, nil
}

func (r *Receiving) putWebhook(ctx context.Context, c *core.Call, in PutWebhookIn) (DomainWithSecret, error) {
	d, err := r.domainOf(ctx, c, in.Domain)
	if err != nil {
		return DomainWithSecret{}, err
	}
	out := DomainWithSecret{}
	if d.Webhook == nil {
		if d, out.HMACSecret, err = r.mint(c.Principal.Org.ID, d); err != nil {
			return DomainWithSecret{}, err
		}
		out.Minted = d.SecretNumber
	}
	d.Webhook = &Webhook{URL: in.WebhookURL, AllowPatterns: in.AllowPatterns, SpamPosture: in.SpamPosture, VirusPosture: in.VirusPosture, Status: Pending}
	if d.Webhook.SpamPosture == "" {
		d.Webhook.SpamPosture = Tag
	}
	if d.Webhook.VirusPosture == "" {
		d.Webhook.VirusPosture = Drop
	}
	d.FailingSince = nil
	out.Domain = d.changed(c.Now)
	c.SetSubject(d.ID)
	r.publishSoon(c)
	return out, r.Store.UpdateDomain(ctx, c.Principal.Org.ID, out.Domain)
}

// sealPurpose separates the secrets of webhooks from other encrypted values.
const sealPurpose = "receiving webhook secret"

// mint returns the domain with a new secret, and the secret.
func (r *Receiving) mint(orgID string, d Domain) (Domain, string, error) {
	secret := standardhooks.NewSecret()
	sealed, err := r.Sealer.Seal(sealPurpose, orgID+"/"+d.ID, []byte(secret))
	if err != nil {
		return d, "", err
	}
	d.Secret = sealed
	d.SecretNumber++
	return d, secret, nil
}

// OpenSecret returns the secret that signs deliveries of a domain. It fails without one.
func OpenSecret(s Sealer, orgID, domainID string, sealed []byte) (string, error) {
	plain, err := s.Open(sealPurpose, orgID+"/"+domainID, sealed)
	if err != nil {
		return "", fmt.Errorf("secret of receiving domain %s: %w", domainID, err)
	}
	return string(plain), nil
}

// recallSecret adds the secret to the stored result of the call that created it, if the
// domain still has it.
func (r *Receiving) recallSecret(ctx context.Context, c *core.Call, out DomainWithSecret) (DomainWithSecret, error) {
	if out.Minted == 0 {
		return out, nil
	}
	d, err := r.Store.Domain(ctx, c.Principal.Org.ID, out.Domain.ID)
	if err != nil {
		return out, err
	}
	if d.SecretNumber != out.Minted || d.Secret == nil {
		return out, core.Conflict("The secret that this call created was replaced since.", "Rotate the secret to get a new one.")
	}
	out.HMACSecret, err = OpenSecret(r.Sealer, c.Principal.Org.ID, d.ID, d.Secret)
	return out, err
}
