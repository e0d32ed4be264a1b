package home

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// notice is something that needs the visitor's attention, with a link to the page that
// settles it. Urgent marks what already does harm.
type notice struct {
	Text, Path, Verb string
	Urgent           bool
}

const (
	// accountTimeout is the time for which the overview waits for the sending account.
	accountTimeout = 3 * time.Second
	// soon is the time before the end of a key from which on it needs attention.
	soon = 14 * 24 * time.Hour
)

// attention returns what needs the visitor's attention, the most urgent first.
func (h *Home) attention(r *http.Request, v people.Visitor, m *mail) []notice {
	notices := m.rateNotices()
	for _, check := range []struct {
		name string
		run  func(*http.Request, people.Visitor) ([]notice, error)
	}{
		{"approvals", h.approvalNotices},
		{"the sending account", h.accountNotices},
		{"syncs", h.syncNotices},
		{"channels", h.channelNotices},
		{"webhooks of receiving domains", h.receivingNotices},
		{"undeliverable addresses", h.undeliverableNotices},
		{"API keys", h.keyNotices},
	} {
		found, err := check.run(r, v)
		if err != nil {
			problem := h.problemOf(r, v, "check of "+check.name, err)
			notices = append(notices, notice{Text: "The check of " + check.name + " could not run: " + problem, Path: frame.Path, Verb: "Try again"})
		}
		notices = append(notices, found...)
	}
	var sorted []notice
	for _, urgent := range []bool{true, false} {
		for _, n := range notices {
			if n.Urgent == urgent {
				sorted = append(sorted, n)
			}
		}
	}
	return sorted
}

// approvalNotices returns a notice if sends wait for the approval of a person.
func (h *Home) approvalNotices(r *http.Request, v people.Visitor) ([]notice, error) {
	if !v.Member.Has(members.MayApproveSends) || !v.Member.Has(members.MayViewCampaigns) {
		return nil, nil
	}
	waiting, err := h.Approvals.CountWaiting(r.Context(), v.Org.ID)
	if err != nil || waiting == 0 {
		return nil, err
	}
	text := frame.Quantity(int64(waiting), "send waits", "sends wait") + " for your approval. Without a decision within 72 hours, nothing is sent."
	return []notice{{text, frame.Path + "/approvals", "Open approvals", true}}, nil
}

// accountNotices returns a notice if the sending account does not answer or delivers no
// mail to everyone.
func (h *Home) accountNotices(r *http.Request, v people.Visitor) ([]notice, error) {
	if !v.Member.Has(members.MayViewAccount) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), accountTimeout)
	defer cancel()
	standing, err := h.Account.Standing(ctx, v.Org)
	path := frame.Path + "/account"
	switch {
	case err != nil && r.Context().Err() == nil && ctx.Err() != nil, err == nil && standing.Unreachable:
		return []notice{{"The sending account does not answer, so its quota and its syncs are out of date.", path, "Open the sending account", true}}, nil
	case err != nil:
		return nil, err
	case standing.Provider == "" && standing.AWS == nil:
		return []notice{{"No sending account is connected, so no mail is sent or counted.", path, "Connect a sending account", false}}, nil
	case standing.AWS != nil && standing.AWS.Sandbox:
		return []notice{{"The sending account is in the provider's sandbox: it sends only to verified addresses.", path, "Request production access", false}}, nil
	case (standing.Provider == sending.Simulated || standing.Provider == "") && v.Member.Has(members.MayViewAnalytics):
		return []notice{{"The sending account is simulated: it delivers no mail.", path + "/mails", "Read the sent mail", false}}, nil
	}
	return nil, nil
}

// syncWords are the texts for what a sync copies from the sending account.
var syncWords = map[sending.SyncKind]string{
	sending.ChannelSync: "channels", sending.TemplateSync: "templates", sending.ContactSync: "contacts",
}

// syncNotices returns a notice for each reason why a latest sync with the sending account
// failed. A reason that the next sync may not have is not urgent.
func (h *Home) syncNotices(r *http.Request, v people.Visitor) ([]notice, error) {
	if !v.Member.Has(members.MayViewAccount) {
		return nil, nil
	}
	results, err := h.Syncs.SyncResults(r.Context(), v.Org.ID)
	if err != nil {
		return nil, err
	}
	var notices []notice
	told := map[sending.FailureKind]bool{}
	for _, first := range results {
		refusal := first.Refusal()
		if refusal == nil || told[first.Failure] {
			continue
		}
		told[first.Failure] = true
		var kinds []string
		last := first.EndedAt
		for _, same := range results {
			if same.Failure == first.Failure {
				kinds = append(kinds, syncWords[same.Kind])
				if same.EndedAt.After(last) {
					last = same.EndedAt
				}
			}
		}
		passing := first.Failure == sending.Throttled || first.Failure == sending.TimedOut
		notices = append(notices, notice{
			fmt.Sprintf("The last sync of %s failed on %s. %s %s", joinWords(kinds), last.UTC().Format(frame.MomentLayout), refusal.Message, refusal.NextStep()),
			frame.Path + "/account", "Open the sending account", !passing,
		})
	}
	return notices, nil
}

// joinWords joins words as a list in a sentence.
func joinWords(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// channelNotices returns notices about channels that are gone from the account, and about
// channels whose messages have no outcome.
func (h *Home) channelNotices(r *http.Request, v people.Visitor) ([]notice, error) {
	var notices []notice
	path := frame.Path + "/channels"
	channels, err := h.Channels(r, v)
	if err != nil {
		return nil, err
	}
	for _, c := range channels {
		if c.Status == "detached" {
			notices = append(notices, notice{"The channel " + frame.Quoted(c.Slug) + " is gone from the sending account.", path, "Open channels", true})
		}
	}
	if !v.Member.Has(members.MayViewAnalytics) {
		return notices, nil
	}
	silent, err := h.silentChannels(r, v)
	return append(notices, silent...), err
}

// silentChannels returns a notice for each channel that stopped reporting events.
func (h *Home) silentChannels(r *http.Request, v people.Visitor) ([]notice, error) {
	silent, err := frame.ReadReport(h.Frame, r, v, func(ctx context.Context) ([]string, error) {
		return h.Silence.SilentChannels(ctx, v.Org.ID)
	})
	var notices []notice
	for _, slug := range silent {
		notices = append(notices, notice{
			"The channel " + frame.Quoted(slug) + " has messages without an outcome, hours after they were sent. Check that its events reach Mailhelm.",
			frame.Path + "/messages?status=send", "Show the messages", true,
		})
	}
	return notices, err
}

// receivingNotices returns a notice for each receiving domain whose webhook has failed for an
// hour: its mail is lost when the attempts end.
func (h *Home) receivingNotices(r *http.Request, v people.Visitor) ([]notice, error) {
	if !v.Member.Has(members.MayViewInbound) {
		return nil, nil
	}
	domains, err := h.Receiving.Domains(r.Context(), v.Org.ID)
	var notices []notice
	for _, d := range domains {
		if alert := d.Alert(h.Clock()); alert != "" {
			notices = append(notices, notice{alert, frame.Path + "/receiving/" + d.ID, "Open the domain", true})
		}
	}
	return notices, err
}

// undeliverableNotices returns a notice if many addresses became undeliverable in the last
// seven days, which include today like those of the mail.
func (h *Home) undeliverableNotices(r *http.Request, v people.Visitor) ([]notice, error) {
	if !v.Member.Has(members.MayViewUndeliverable) {
		return nil, nil
	}
	growth, err := h.Undeliverable.Growth(r.Context(), v.Org.ID)
	if err != nil || !growth.Notable() {
		return nil, err
	}
	count := core.WithCommas(growth.Listed)
	if growth.More {
		count += " or more"
	}
	return []notice{{count + " addresses became undeliverable in the last seven days. Remove them before the next send.", frame.Path + "/undeliverable", "Show the addresses", false}}, nil
}

// keyNotices returns a notice for each API key that ends soon.
func (h *Home) keyNotices(r *http.Request, v people.Visitor) ([]notice, error) {
	if !v.Member.Has(members.MayManageCredentials) {
		return nil, nil
	}
	keys, err := h.Keys.APIKeysOf(r.Context(), v.Org.ID)
	if err != nil {
		return nil, fmt.Errorf("API keys: %w", err)
	}
	var notices []notice
	for _, k := range keys {
		if now := h.Clock(); k.StateAt(now) == access.KeyInGrace && k.ExpiresAt.Sub(now) < soon {
			notices = append(notices, notice{
				"The API key " + frame.Quoted(k.Name) + " was rotated and ends " + h.When(*k.ExpiresAt).Relative + ". Programs that still use it will be refused.",
				h.Links.Keys, "Open API keys", false,
			})
		}
	}
	return notices, nil
}
