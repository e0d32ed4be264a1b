package account

import (
	"context"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/sending"
)

// CheckReadinessIn is the input of sending_readiness_check. It may name a channel, which is
// then checked too.
type CheckReadinessIn struct {
	Channel string `json:"channel,omitempty" jsonschema:"maxLength=64" jsonschema_description:"A channel that must exist, by slug, such as marketing, or by id. Default: any channel will do."`

	found *findings
}

// Readiness is the result of sending_readiness_check: whether mail can be sent, and what
// prevents it.
type Readiness struct {
	Ready     bool       `json:"ready" jsonschema_description:"Whether no check failed."`
	Checks    []Check    `json:"checks"`
	SendQuota *SendQuota `json:"send_quota" jsonschema:"nullable"`
	Sandbox   bool       `json:"sandbox" jsonschema_description:"Whether the account may only send to verified addresses."`
}

// Check is the result of checking one condition of the account, such as its quota.
type Check struct {
	Name   string `json:"name" voice:"ours"`
	Status string `json:"status" jsonschema:"enum=pass,enum=warn,enum=fail"`
	Detail string `json:"detail" voice:"ours" jsonschema_description:"What was found, and what to do about it."`
}

// The values of Check.Status. Only Fail means that mail cannot be sent.
const (
	Pass = "pass"
	Warn = "warn"
	Fail = "fail"
)

func (a *Account) sendingReadinessCheck() core.Operation {
	return core.Declare(core.Op[CheckReadinessIn, Readiness]{
		Name:  "sending_readiness_check",
		Title: "Check whether mail can be sent",
		Purpose: "Checks the sending account: sandbox, quota, identities, DNS, channels, bounce and complaint rates. " +
			"Call it before a send or when mail does not go out. Returns each check with the next step. It changes and sends nothing.",
		Example: `{"channel": "marketing"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.AccountView},
		Fails:   []core.Code{core.CodeUpstreamUnavailable},
		Prepare: a.prepareReadiness,
		Do:      a.checkReadiness,
	})
}

// findings has what was read about the account, as the input of all checks.
type findings struct {
	// absent is true if no sending account is connected; the other fields are then empty.
	absent bool
	// provider is "" if no connection is stored for the organization.
	provider   sending.Provider
	overview   sending.Overview
	channels   []channels.Channel
	identities []channels.Identity
	tracking   []channels.TrackingDomain
	template   *InfraTemplate
	request    *sending.AccessRequest
	rates      *rates
}

type rates struct{ sent, bounced, complained int64 }

// prepareReadiness reads the state of the sending account, without the cache. Channels and
// identities are read from the account only if no sync has copied them yet; otherwise
// checkReadiness reads them from the database. It fails if the account does not answer.
func (a *Account) prepareReadiness(ctx context.Context, c *core.Call, in CheckReadinessIn) (CheckReadinessIn, error) {
	org := c.Principal.Org.ID
	in.found = &findings{}
	var err error
	if in.found.overview, err = a.probeOverview(ctx, org); err != nil {
		if in.found.absent = sending.IsAbsent(err); in.found.absent {
			return in, nil
		}
		return in, sending.Unavailable(err)
	}
	_, err = a.Mirror.LastSync(ctx, org)
	switch {
	case err == nil:
		return in, nil // checkReadiness reads the copy in the database
	case core.AsError(err).Code != core.CodeNotFound:
		return in, err
	}
	return in, sending.Unavailable(a.askForAll(ctx, org, in.found))
}

// probeOverview returns the state of the sending account. It also probes an account that
// can be probed, such as an SMTP server, because the state does not show whether the server
// answers.
func (a *Account) probeOverview(ctx context.Context, orgID string) (sending.Overview, error) {
	overview, err := a.Account.Overview(ctx, orgID)
	if prober, ok := a.Account.(sending.Prober); ok && err == nil {
		err = prober.Probe(ctx, orgID)
	}
	return overview, err
}

// askForAll reads the identities and configuration sets of an account that was never
// synced, and adds them to f. The channels get the status Discovered.
func (a *Account) askForAll(ctx context.Context, orgID string, f *findings) error {
	identities, err := a.Account.Identities(ctx, orgID)
	if err != nil {
		return err
	}
	for _, i := range identities {
		f.identities = append(f.identities, channels.Identity{
			Identity: i.Identity, Type: channels.TypeOf(i.Identity), Verification: i.Verification, Tokens: i.DKIMTokens,
		})
	}
	sets, err := a.Account.ConfigurationSets(ctx, orgID)
	for _, set := range sets {
		f.channels = append(f.channels, channels.Channel{Name: set.Name, Slug: set.Name, Status: channels.Discovered})
	}
	return err
}

// maxLooked is the maximum number of channels that the readiness checks read. It is also
// the maximum number of identities, and of tracking domains.
const maxLooked = 1000

func (a *Account) checkReadiness(ctx context.Context, c *core.Call, in CheckReadinessIn) (Readiness, error) {
	f := *in.found
	if f.absent {
		return Readiness{Checks: []Check{absent}}, nil
	}
	if err := a.fill(ctx, c.Principal.Org, &f); err != nil {
		return Readiness{}, err
	}
	checks := f.checks(in.Channel)
	return Readiness{
		Ready:     !slices.ContainsFunc(checks, func(c Check) bool { return c.Status == Fail }),
		Checks:    checks,
		SendQuota: quotaOf(f.overview),
		Sandbox:   f.overview.Sandbox,
	}, nil
}

// fill reads from the database the data that the checks need and f does not have yet. The
// data is the channels, identities and tracking domains, the connection, the latest request
// for production access, and the rates.
func (a *Account) fill(ctx context.Context, org core.Org, f *findings) error {
	var err error
	if f.channels == nil && f.identities == nil {
		if f.channels, err = a.Mirror.Channels(ctx, org.ID, nil, maxLooked); err != nil {
			return err
		}
		if f.identities, err = a.Mirror.Identities(ctx, org.ID, nil, maxLooked); err != nil {
			return err
		}
		if f.tracking, err = a.Mirror.TrackingDomains(ctx, org.ID, nil, maxLooked); err != nil {
			return err
		}
	}
	connection, err := a.connection(ctx, org.ID)
	if err != nil {
		return err
	}
	f.provider, f.template = connection.Provider, recordedTemplate(templateOf(connection))
	if f.request, err = a.latestRequest(ctx, org.ID); err != nil {
		return err
	}
	f.rates, err = a.recentRates(ctx, org)
	return err
}

// rateDays is the number of days, today included, that the bounce and complaint rates
// cover.
const rateDays = 7

func (a *Account) recentRates(ctx context.Context, org core.Org) (*rates, error) {
	if a.Rates == nil {
		return nil, nil //nolint:nilnil // no figures are kept
	}
	var r rates
	var err error
	r.sent, r.bounced, r.complained, err = a.Rates.Rates(ctx, org.ID, core.LastDays(a.Clock(), rateDays))
	return &r, err
}
