package organization

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// channelNotices are the messages that the page of channels shows after a change, by name.
var channelNotices = frame.Notices{
	"adopted": "The channel is adopted, with the identities bound to it.",
	"sync":    "The sending account is being read. Open this page again in a few seconds.",
	"fresh":   "The sending account was read a moment ago.",
}

// syncPause is the minimum time between the last sync of the sending account and a sync
// that a visitor requests.
const syncPause = 30 * time.Second

// maxChannels is the maximum number of channels, of identities and of tracking domains on
// the page.
const maxChannels = 200

// channelsPage is the data of the page of channels, identities and tracking domains.
type channelsPage struct {
	Channels   []channelRow
	Identities []identityRow
	Tracking   []channels.TrackingDomain
	Synced     string // the time of the last sync; "" before the first
	More       bool
	Sync       *frame.Form // nil if the visitor may not request a sync
	Adopts     bool        // whether the visitor may adopt a channel of the list
}

// channelRow is the data of a channel. Adopt is the form that makes a newly discovered
// channel active.
type channelRow struct {
	channels.Channel
	Adopt *frame.Form // nil for other channels, and for a visitor who may not use it
}

// identityRow is the data of a sending identity, with the DNS records that it needs.
type identityRow struct {
	channels.Identity
	Records []channels.Record
}

// showChannels shows the page of channels, identities and tracking domains.
func (h channelHandlers) showChannels(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	standing, err := h.Channels.Standing(r.Context(), v.Org.ID, maxChannels)
	if err != nil {
		h.Fail(w, r, v, fmt.Errorf("channels: %w", err))
		return
	}
	data := channelsPage{More: standing.More}
	if !standing.SyncedAt.IsZero() {
		data.Synced = standing.SyncedAt.UTC().Format(frame.MomentLayout)
	}
	if v.Member.Has(members.MayTriggerSync) {
		now := frame.FormTo(v, ChannelsPath+"/sync")
		data.Sync = &now
	}
	for _, c := range standing.Channels {
		row := channelRow{Channel: plainChannel(c)}
		if c.Status == channels.Discovered && v.Member.Has(members.MayAdoptChannels) {
			adopt := frame.FormTo(v, ChannelsPath+"/"+url.PathEscape(c.Slug)+"/adopt")
			row.Adopt, data.Adopts = &adopt, true
		}
		data.Channels = append(data.Channels, row)
	}
	for _, i := range standing.Identities {
		row := identityRow{i, plainRecords(i.Records())}
		row.Identity.Identity = frame.PlainName(i.Identity)
		data.Identities = append(data.Identities, row)
	}
	for _, t := range standing.Tracking {
		t.Domain, t.Records = frame.PlainName(t.Domain), plainRecords(t.Records)
		data.Tracking = append(data.Tracking, t)
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "channels", Title: "Channels", Notice: channelNotices.NoticeOf(r), Data: data})
}

// plainChannel returns the channel with names that have no invisible characters; see
// frame.PlainName.
func plainChannel(c channels.Channel) channels.Channel {
	c.Name = frame.PlainName(c.Name)
	if c.TrackingDomain != nil {
		domain := frame.PlainName(*c.TrackingDomain)
		c.TrackingDomain = &domain
	}
	bound := make([]string, len(c.Identities))
	for i, name := range c.Identities {
		bound[i] = frame.PlainName(name)
	}
	c.Identities = bound
	return c
}

// plainRecords returns the DNS records with names and values that have no invisible
// characters; see frame.PlainName.
func plainRecords(records []channels.Record) []channels.Record {
	plain := make([]channels.Record, len(records))
	for i, r := range records {
		plain[i] = channels.Record{Type: r.Type, Name: frame.PlainName(r.Name), Value: frame.PlainName(r.Value)}
	}
	return plain
}

// syncAccount requests a sync of the account's channels, identities, templates and topics
// and redirects to the page of channels. It requests no sync if the last one was less than
// syncPause ago.
func (h channelHandlers) syncAccount(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	standing, err := h.Channels.Standing(r.Context(), v.Org.ID, 1)
	if err != nil {
		h.Fail(w, r, v, fmt.Errorf("channels: %w", err))
		return
	}
	if age := h.Clock().Sub(standing.SyncedAt); age >= 0 && age < syncPause {
		frame.RedirectWithNotice(w, ChannelsPath, "fresh")
		return
	}
	err = h.TransactorWith(v, members.MayTriggerSync).InTx(r.Context(), func(ctx context.Context) error {
		if asked, err := h.SyncAccount(ctx, v.Org.ID); err != nil || !asked {
			return err
		}
		return h.Record(ctx, v, "account.sync_requested", v.Org.ID, map[string]any{})
	})
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, ChannelsPath, "sync")
}

// adoptChannel makes the discovered channel whose slug is in the path active, and redirects
// to the page of channels.
func (h channelHandlers) adoptChannel(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	err := h.TransactorWith(v, members.MayAdoptChannels).InTx(r.Context(), func(ctx context.Context) error {
		adopted, err := h.Channels.Adopt(ctx, v.Org.ID, r.PathValue("slug"))
		if err != nil {
			return err
		}
		return h.Record(ctx, v, "channel.adopted", adopted.ID, map[string]any{"slug": adopted.Slug, "identities": adopted.Identities})
	})
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, ChannelsPath, "adopted")
}
