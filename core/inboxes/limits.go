package inboxes

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Reason says which limit refused a new inbox. It is the member `reason` of the problem
// document.
type Reason string

// The reasons for which a new inbox is refused.
const (
	QuotaHourly   Reason = "quota_hourly"
	QuotaDaily    Reason = "quota_daily"
	CapUser       Reason = "cap_user"
	CapAccountRef Reason = "cap_account_ref"
	CapOrg        Reason = "cap_org"
	OrgDisabled   Reason = "org_disabled"
)

// rule is a limit on new inboxes, with the reason of its refusals.
type rule struct {
	Limit
	reason Reason
	// what names the inboxes that are counted.
	what string
}

const (
	hour, day = time.Hour, 24 * time.Hour
	perCaller = 5
)

// rulesFor returns the limits on a new inbox, in the order in which they are checked.
// connected is true if the organization has connected a sending account of its own.
// Restricted inboxes count against the cap of the organization only.
func rulesFor(p core.Principal, i Inbox, connected bool) []rule {
	var rules []rule
	if i.Restriction == Unrestricted {
		const what = "unrestricted inboxes of this organization"
		switch {
		case p.Org.PlatformMode:
			rules = append(rules, rule{Limit{N: 2000, Window: day}, QuotaDaily, what})
		case connected:
			rules = append(rules, rule{Limit{N: 30, Window: hour}, QuotaHourly, what}, rule{Limit{N: 200, Window: day}, QuotaDaily, what})
		default:
			rules = append(rules, rule{Limit{N: 3, Window: day}, QuotaDaily, what})
		}
		if p.Org.PlatformMode {
			rules = append(rules, rule{Limit{N: perCaller, Live: LiveFilter{Unrestricted: true, AccountRef: i.AccountRef}}, CapAccountRef, "unrestricted inboxes with this account_ref"})
		} else {
			rules = append(rules, rule{Limit{N: perCaller, Live: LiveFilter{Unrestricted: true, Caller: i.Caller}}, CapUser, "unrestricted inboxes of this credential"})
		}
	}
	inAll := 25
	if p.Org.PlatformMode {
		inAll = 500
	}
	return append(rules, rule{Limit{N: inAll}, CapOrg, "inboxes of this organization"})
}

// admit fails with core.CodeRateLimited if a limit refuses the new inbox. It locks the mints of
// the organization, so that concurrent calls cannot exceed a limit together.
func (x *Inboxes) admit(ctx context.Context, p core.Principal, i Inbox) error {
	disabled, err := x.Store.HoldMints(ctx, p.Org.ID)
	if err != nil {
		return err
	}
	if disabled {
		return refuse(OrgDisabled, 0, "Temporary inboxes are disabled for this organization.").WithNext("Ask the operator of this server to enable them.")
	}
	connected, err := x.Accounts.HasAccount(ctx, p.Org)
	if err != nil {
		return err
	}
	rules := rulesFor(p, i, connected)
	limits := make([]Limit, len(rules))
	for at, r := range rules {
		limits[at] = r.Limit
	}
	reached, err := x.Store.Reached(ctx, p.Org.ID, limits, i.CreatedAt)
	if err != nil {
		return err
	}
	for at, r := range rules {
		if reached[at] != nil {
			return r.refuse(*reached[at], i.CreatedAt)
		}
	}
	return nil
}

// refuse returns the error for an inbox at now. at is what [Store.Reached] returned for the limit.
func (r rule) refuse(at, now time.Time) *core.Error {
	if r.Window > 0 {
		return refuse(r.reason, at.Add(r.Window).Sub(now), fmt.Sprintf("The limit of %d new %s in %s is reached.", r.N, r.what, windowName(r.Window))).
			WithNext("Repeat after `Retry-After`. Inboxes with allowed_senders do not count against this limit.")
	}
	return refuse(r.reason, at.Sub(now), fmt.Sprintf("The limit of %d live %s is reached.", r.N, r.what)).
		WithNext("Delete an inbox that you no longer need, or repeat after `Retry-After`.")
}

func windowName(d time.Duration) string {
	if d == hour {
		return "an hour"
	}
	return "24 hours"
}

// refuse returns the error for a limit. after is the time until the limit admits an inbox, 0
// for none.
func refuse(reason Reason, after time.Duration, message string) *core.Error {
	return &core.Error{Code: core.CodeRateLimited, Message: message, RetryAfter: after, Extra: map[string]any{"reason": string(reason)}}
}
