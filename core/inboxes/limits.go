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

// rule is a limit on new inboxes: at most n in a window, or at most n that live at the same
// time if window is 0.
type rule struct {
	reason Reason
	n      int
	window time.Duration
	live   LiveFilter
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
			rules = append(rules, rule{reason: QuotaDaily, n: 2000, window: day, what: what})
		case connected:
			rules = append(rules, rule{reason: QuotaHourly, n: 30, window: hour, what: what}, rule{reason: QuotaDaily, n: 200, window: day, what: what})
		default:
			rules = append(rules, rule{reason: QuotaDaily, n: 3, window: day, what: what})
		}
		if p.Org.PlatformMode {
			rules = append(rules, rule{reason: CapAccountRef, n: perCaller, live: LiveFilter{Unrestricted: true, AccountRef: i.AccountRef}, what: "unrestricted inboxes with this account_ref"})
		} else {
			rules = append(rules, rule{reason: CapUser, n: perCaller, live: LiveFilter{Unrestricted: true, Caller: i.Caller}, what: "unrestricted inboxes of this credential"})
		}
	}
	inAll := 25
	if p.Org.PlatformMode {
		inAll = 500
	}
	return append(rules, rule{reason: CapOrg, n: inAll, what: "inboxes of this organization"})
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
	for _, r := range rulesFor(p, i, connected) {
		if err := x.checkRule(ctx, p.Org.ID, r, i.CreatedAt); err != nil {
			return err
		}
	}
	return nil
}

// checkRule fails if the rule admits no inbox at now.
func (x *Inboxes) checkRule(ctx context.Context, orgID string, r rule, now time.Time) error {
	if r.window > 0 {
		mint, err := x.Store.NthMint(ctx, orgID, now.Add(-r.window), r.n)
		if err != nil || mint == nil {
			return err
		}
		return refuse(r.reason, mint.Add(r.window).Sub(now), fmt.Sprintf("The limit of %d new %s in %s is reached.", r.n, r.what, windowName(r.window))).
			WithNext("Repeat after `Retry-After`. Inboxes with allowed_senders do not count against this limit.")
	}
	end, err := x.Store.NthEnd(ctx, orgID, r.live, now, r.n)
	if err != nil || end == nil {
		return err
	}
	return refuse(r.reason, end.Sub(now), fmt.Sprintf("The limit of %d live %s is reached.", r.n, r.what)).
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
