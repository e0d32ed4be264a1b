package account

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/sending"
)

// checks returns the results of all checks, in the order in which the customer should fix
// them.
func (f findings) checks(channel string) []Check {
	all := []Check{f.connection(), f.checkSendingEnabled(), f.sandbox(), f.quota(), f.identity(), f.dns(), f.channel(channel), f.trackingDomain()}
	if f.template != nil && !f.template.UpToDate {
		all = append(all, Check{"infrastructure_template", Warn, fmt.Sprintf("Version %d of the infrastructure template is applied, and %d is the newest. Update the stack.",
			f.template.TemplateVersion, f.template.LatestVersion)})
	}
	if f.rates != nil {
		all = append(all, f.bounceRate(), f.complaintRate())
	}
	return all
}

// absent is the only check result of an organization without a connected sending account.
var absent = Check{"connection", Fail, "No sending account is connected to this organization. Connect one in the dashboard under Sending account."}

func (f findings) connection() Check {
	where := ""
	if f.overview.AccountID != "" {
		where += " " + core.Quote(f.overview.AccountID)
	}
	if f.overview.Region != "" {
		where += " in " + core.Quote(f.overview.Region)
	}
	return Check{"connection", Pass, "The sending account" + where + " answers."}
}

func (f findings) checkSendingEnabled() Check {
	if f.overview.SendingEnabled {
		return Check{"sending_enabled", Pass, "The account may send."}
	}
	return Check{"sending_enabled", Fail, "The provider has paused sending for this account. Open the provider's reputation dashboard and answer the review."}
}

func (f findings) sandbox() Check {
	const name = "production_access"
	if !f.overview.Sandbox {
		return Check{name, Pass, "The account has production access."}
	}
	detail := "The account is in the sandbox and may only send to verified addresses. "
	switch {
	case f.request == nil:
		return Check{name, Warn, detail + "Request production access before you send to an audience."}
	case f.request.Status.Open():
		return Check{name, Warn, detail + "The request of " + f.request.CreatedAt.Format("2006-01-02") + " is open. Wait for the provider's decision. The provider does not announce a denial: after two weeks without an answer the request counts as denied."}
	case f.request.Status == sending.AccessGranted:
		return Check{name, Warn, detail + "A request was granted earlier. Check that the right account and region are connected."}
	}
	return Check{name, Warn, detail + "The request of " + f.request.CreatedAt.Format("2006-01-02") + " was not granted. Describe your use in more detail in a new request."}
}

// quota compares the messages of the last 24 hours with the account's daily quota. It
// returns a warning from 90 % on, so that the customer can request more in time, and a
// failure from 100 % on.
func (f findings) quota() Check {
	limit, sent := f.overview.Max24HourSend, f.overview.SentLast24Hours
	detail := fmt.Sprintf("%d of %d messages of the last 24 hours are used.", sent, max(0, limit))
	switch {
	case limit < 0:
		return Check{"send_quota", Pass, "The account has no daily limit."}
	case sent >= limit:
		return Check{"send_quota", Fail, detail + " Wait until earlier messages are more than 24 hours old, or ask the provider for a higher quota."}
	case sent*10 >= limit*9:
		return Check{"send_quota", Warn, detail + " Ask the provider for a higher quota before it is used up."}
	}
	return Check{"send_quota", Pass, detail}
}

func (f findings) withVerification(v sending.VerificationStatus) []string {
	var names []string
	for _, i := range f.identities {
		if i.Verification == v {
			names = append(names, i.Identity)
		}
	}
	slices.Sort(names)
	return names
}

func (f findings) identity() Check {
	verified := f.withVerification(sending.Success)
	if f.provider == sending.SMTP && len(verified) == 0 {
		return Check{"verified_identity", Pass, "No sender is configured for the SMTP server: the server itself decides which senders it accepts."}
	}
	if len(verified) == 0 {
		return Check{"verified_identity", Fail, "No domain or address is verified. Publish the DNS records of a sending domain."}
	}
	return Check{"verified_identity", Pass, formatCount(len(verified), "identity is verified: ", "identities are verified: ") + core.QuotedList(verified) + "."}
}

func (f findings) dns() Check {
	const name = "identity_dns"
	if failed := f.withVerification(sending.Failed); len(failed) > 0 {
		return Check{name, Warn, "The provider could not verify " + core.QuotedList(failed) + ". Compare the published DKIM records with those in the dashboard under Channels."}
	}
	if pending := f.withVerification(sending.Pending); len(pending) > 0 {
		return Check{name, Warn, "The provider has not yet verified " + core.QuotedList(pending) + ". Publish the DKIM records of a domain, or follow the link sent to an address."}
	}
	return Check{name, Pass, "No identity needs DNS records."}
}

// isChannel reports whether wanted is the slug or the id of the channel, or the name of its
// configuration set at the provider.
func isChannel(c channels.Channel, wanted string) bool {
	return wanted != "" && (c.Slug == wanted || c.Name == wanted || strings.EqualFold(c.ID, wanted))
}

func (f findings) channel(wanted string) Check {
	if f.provider == sending.SMTP {
		return channelOfServer(wanted)
	}
	var names, active []string
	var found *channels.Channel
	for i, c := range f.channels {
		if c.Status == channels.Detached {
			if isChannel(c, wanted) {
				return Check{"channel", Fail, "The account no longer has the channel " + core.Quote(wanted) + ". Create its configuration set again, or use another channel."}
			}
			continue
		}
		names = append(names, c.Name)
		if c.Status == channels.Active {
			active = append(active, c.Name)
		}
		if isChannel(c, wanted) {
			found = &f.channels[i]
		}
	}
	slices.Sort(names)
	known := core.QuotedList(names)
	switch {
	case len(names) == 0:
		return Check{"channel", Fail, "The account has no configuration set, so there is no channel to send through. Create one in the account; Mailhelm finds it within 15 minutes."}
	case wanted != "" && found == nil:
		return Check{"channel", Fail, "There is no channel " + core.Quote(wanted) + ". The channels are " + known + "."}
	case found != nil && found.Status == channels.Discovered && len(active) > 0:
		return Check{"channel", Warn, "The channel " + core.Quote(wanted) + " is not adopted. Adopt it in the dashboard under Channels."}
	}
	return Check{"channel", Pass, "The channels are " + known + "."}
}

// channelOfServer returns the result of the channel check for an SMTP server. A server has
// no channels, so the check fails only if the caller names one.
func channelOfServer(wanted string) Check {
	if wanted != "" {
		return Check{"channel", Fail, "There is no channel " + core.Quote(wanted) + ": an SMTP server has no channels. Leave the channel out."}
	}
	return Check{"channel", Pass, "An SMTP server needs no channels."}
}

func (f findings) trackingDomain() Check {
	const name = "tracking_domain"
	var waiting, failed []string
	for _, d := range f.tracking {
		switch d.Status {
		case channels.TrackingPending:
			waiting = append(waiting, d.Domain)
		case channels.TrackingFailed:
			failed = append(failed, d.Domain)
		}
	}
	switch {
	case len(failed) > 0:
		return Check{name, Warn, "The DNS records of " + core.QuotedList(failed) + " were not found, so tracked links may not work. Publish them, or remove the domain from its channel."}
	case len(waiting) > 0:
		return Check{name, Warn, "The DNS records of " + core.QuotedList(waiting) + " are not found yet. Publish the records that the tracking domain lists."}
	case len(f.tracking) == 0:
		return Check{name, Pass, "No channel has a tracking domain of its own."}
	}
	return Check{name, Pass, formatCount(len(f.tracking), "tracking domain is verified.", "tracking domains are verified.")}
}

// The bounce and complaint rates at which the provider reviews an account, and at which it
// may pause the account, per thousand sent messages.
const (
	bounceReview    = 50
	bouncePause     = 100
	complaintReview = 1
	complaintPause  = 5
	// fewMessages is the number of sent messages below which a high rate is a warning, not a
	// failure. Among so few messages, one bounce is a high rate.
	fewMessages = 100
)

func (f findings) bounceRate() Check {
	return judgeRate("bounce_rate", "bounced", f.rates.bounced, f.rates.sent, bounceReview, bouncePause,
		"Stop sending to addresses that were not confirmed, and read the bounces in the sending health report.")
}

func (f findings) complaintRate() Check {
	return judgeRate("complaint_rate", "led to a complaint", f.rates.complained, f.rates.sent, complaintReview, complaintPause,
		"Send only to people who asked for the mail, and make it easy to unsubscribe.")
}

// judgeRate compares the rate count/sent with the thresholds review and pause, which are
// per thousand. The check passes below review and warns from review on. From pause on it
// fails, unless fewer than fewMessages were sent.
func judgeRate(name, what string, count, sent, review, pause int64, next string) Check {
	if sent == 0 {
		return Check{name, Pass, fmt.Sprintf("Nothing was sent in the last %d days.", rateDays)}
	}
	detail := fmt.Sprintf("%d of %d messages of the last %d days %s, %.2f %%. The provider reviews an account at %s %% and may pause it at %s %%.",
		count, sent, rateDays, what, min(100, float64(count)*100/float64(sent)), tenths(review), tenths(pause))
	switch {
	case count*1000 < sent*review:
		return Check{name, Pass, detail}
	case sent < fewMessages:
		return Check{name, Warn, detail + " With so few messages the rate is not reliable. " + next}
	case count*1000 < sent*pause:
		return Check{name, Warn, detail + " " + next}
	}
	return Check{name, Fail, detail + " " + next}
}

func tenths(n int64) string {
	if n%10 == 0 {
		return fmt.Sprint(n / 10)
	}
	return fmt.Sprintf("%d.%d", n/10, n%10)
}

func formatCount(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
