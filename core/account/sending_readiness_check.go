package account

import (
	"context"
	"fmt"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// CheckReadinessIn may name the channel one wants to send through.
type CheckReadinessIn struct {
	Channel string `json:"channel,omitempty" jsonschema:"maxLength=64" jsonschema_description:"Slug of the channel to check as well."`

	overview   sending.Overview
	identities []sending.Identity
	channels   []sending.ConfigurationSet
}

// Readiness says whether mail can be sent, and what stands in the way.
type Readiness struct {
	Ready     bool       `json:"ready" jsonschema_description:"Whether no check failed."`
	Checks    []Check    `json:"checks"`
	SendQuota *SendQuota `json:"send_quota" jsonschema:"nullable"`
	Sandbox   bool       `json:"sandbox" jsonschema_description:"Whether the account may only send to verified addresses."`
}

// Check is one thing that must be in order.
type Check struct {
	Name   string `json:"name" voice:"ours"`
	Status string `json:"status" jsonschema:"enum=pass,enum=warn,enum=fail"`
	Detail string `json:"detail" voice:"ours" jsonschema_description:"What was found, and what to do about it."`
}

func (a *Account) sendingReadinessCheck() core.Operation {
	return core.Declare(core.Op[CheckReadinessIn, Readiness]{
		Name:  "sending_readiness_check",
		Title: "Check whether mail can be sent",
		Purpose: "Checks the connected sending account: sending enabled, sandbox, quota left, a verified identity, a channel. " +
			"Call it before preparing a send or to find out why mail does not go out. Returns each check with what to do about it. It changes and sends nothing.",
		Effect:  core.Reads,
		Scopes:  []core.Scope{core.AccountView},
		Prepare: a.prepareReadiness,
		Do:      checkReadiness,
	})
}

func (a *Account) prepareReadiness(ctx context.Context, c *core.Call, in CheckReadinessIn) (CheckReadinessIn, error) {
	org := c.Principal.Org.ID
	var err error
	if in.overview, err = a.Account.Overview(ctx, org); err != nil {
		return in, sending.Unavailable(err)
	}
	if in.identities, err = a.Account.Identities(ctx, org); err != nil {
		return in, sending.Unavailable(err)
	}
	in.channels, err = a.Account.ConfigurationSets(ctx, org)
	return in, sending.Unavailable(err)
}

func checkReadiness(_ context.Context, _ *core.Call, in CheckReadinessIn) (Readiness, error) {
	checks := []Check{in.sendingEnabled(), in.sandbox(), in.quota(), in.identity(), in.channel()}
	return Readiness{
		Ready:     !slices.ContainsFunc(checks, func(c Check) bool { return c.Status == "fail" }),
		Checks:    checks,
		SendQuota: quotaOf(in.overview),
		Sandbox:   in.overview.Sandbox,
	}, nil
}

func (in CheckReadinessIn) sendingEnabled() Check {
	if in.overview.SendingEnabled {
		return Check{"sending_enabled", "pass", "The account may send."}
	}
	return Check{"sending_enabled", "fail", "The provider has paused sending for this account. Look at its reputation dashboard and answer the review."}
}

func (in CheckReadinessIn) sandbox() Check {
	if !in.overview.Sandbox {
		return Check{"production_access", "pass", "The account has production access."}
	}
	return Check{"production_access", "warn", "The account is in the sandbox and may only send to verified addresses. Ask for production access before sending to an audience."}
}

// quota warns from nine tenths, so that there is time to ask for more.
func (in CheckReadinessIn) quota() Check {
	limit, sent := in.overview.Max24HourSend, in.overview.SentLast24Hours
	detail := fmt.Sprintf("%d of %d messages of the last 24 hours are used.", sent, max(0, limit))
	switch {
	case limit < 0:
		return Check{"send_quota", "pass", "The account has no daily limit."}
	case sent >= limit:
		return Check{"send_quota", "fail", detail + " Wait for the window to move on, or ask the provider for a higher quota."}
	case sent*10 >= limit*9:
		return Check{"send_quota", "warn", detail + " Ask the provider for a higher quota in time."}
	}
	return Check{"send_quota", "pass", detail}
}

func (in CheckReadinessIn) identity() Check {
	var verified []string
	for _, identity := range in.identities {
		if identity.Verification == sending.Success {
			verified = append(verified, identity.Identity)
		}
	}
	if len(verified) == 0 {
		return Check{"verified_identity", "fail", "No domain or address is verified. Publish the DNS records of a sending domain."}
	}
	return Check{"verified_identity", "pass", countOf(len(verified), "identity is verified: ", "identities are verified: ") + core.QuotedList(verified) + "."}
}

func (in CheckReadinessIn) channel() Check {
	var names []string
	for _, set := range in.channels {
		names = append(names, set.Name)
	}
	known := core.QuotedList(names)
	switch {
	case len(names) == 0:
		return Check{"channel", "fail", "The account has no configuration set, so there is no channel to send through."}
	case in.Channel != "" && !slices.Contains(names, in.Channel):
		return Check{"channel", "fail", "There is no channel " + core.Quoted(in.Channel) + ". The channels are " + known + "."}
	}
	return Check{"channel", "pass", "The channels are " + known + "."}
}

func countOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
