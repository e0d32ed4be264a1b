package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/channels"
)

const channelsPath = Path + "/channels"

func (d *Dashboard) channelPages() []route {
	return []route{
		{path: "/channels", needs: access.MayViewSending, get: d.showChannels},
		{path: "/channels/sync", needs: access.MayTriggerSync, post: d.syncAccount},
		{path: "/channels/{slug}/adopt", needs: access.MayAdoptChannels, post: d.adoptChannel},
	}
}

var channelNotices = notices{
	"adopted": "The channel is adopted, with the identities bound to it.",
	"sync":    "The sending account is being read. Open this page again in a few seconds.",
	"fresh":   "The sending account was read a moment ago.",
}

// syncPause keeps an impatient visitor from having the account read over and over.
const syncPause = 30 * time.Second

// maxChannels is how many of each kind the page shows.
const maxChannels = 200

// channelsPage is what the page of channels, identities and tracking domains shows.
type channelsPage struct {
	Channels   []channelRow
	Identities []identityRow
	Tracking   []channels.TrackingDomain
	Synced     string // "" before the first sync
	More       bool
	Sync       *form // nil when the visitor may not
}

type channelRow struct {
	channels.Channel
	Adopt *form // nil when it cannot be adopted, or not by the visitor
}

type identityRow struct {
	channels.Identity
	Records []channels.Record
}

func (d *Dashboard) showChannels(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	standing, err := d.Channels.Standing(r.Context(), v.Org.ID, maxChannels)
	if err != nil {
		d.fail(w, r, v, fmt.Errorf("channels: %w", err))
		return
	}
	data := channelsPage{More: standing.More}
	if !standing.SyncedAt.IsZero() {
		data.Synced = standing.SyncedAt.UTC().Format(momentLayout)
	}
	if v.Member.Has(access.MayTriggerSync) {
		now := formTo(v, channelsPath+"/sync")
		data.Sync = &now
	}
	for _, c := range standing.Channels {
		row := channelRow{Channel: plainChannel(c)}
		if c.Status == channels.Discovered && v.Member.Has(access.MayAdoptChannels) {
			adopt := formTo(v, channelsPath+"/"+url.PathEscape(c.Slug)+"/adopt")
			row.Adopt = &adopt
		}
		data.Channels = append(data.Channels, row)
	}
	for _, i := range standing.Identities {
		row := identityRow{i, plainRecords(i.Records())}
		row.Identity.Identity = plainName(i.Identity)
		data.Identities = append(data.Identities, row)
	}
	for _, t := range standing.Tracking {
		t.Domain, t.Records = plainName(t.Domain), plainRecords(t.Records)
		data.Tracking = append(data.Tracking, t)
	}
	d.show(w, r, v, http.StatusOK, screen{page: "channels", title: "Channels", notice: channelNotices.of(r), data: data})
}

// plainChannel is the channel with its names as a person may read them.
func plainChannel(c channels.Channel) channels.Channel {
	c.Name = plainName(c.Name)
	if c.TrackingDomain != nil {
		domain := plainName(*c.TrackingDomain)
		c.TrackingDomain = &domain
	}
	bound := make([]string, len(c.Identities))
	for i, name := range c.Identities {
		bound[i] = plainName(name)
	}
	c.Identities = bound
	return c
}

func plainRecords(records []channels.Record) []channels.Record {
	plain := make([]channels.Record, len(records))
	for i, r := range records {
		plain[i] = channels.Record{Type: r.Type, Name: plainName(r.Name), Value: plainName(r.Value)}
	}
	return plain
}

// syncAccount has everything that is mirrored of the account read soon.
func (d *Dashboard) syncAccount(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	standing, err := d.Channels.Standing(r.Context(), v.Org.ID, 1)
	if err != nil {
		d.fail(w, r, v, fmt.Errorf("channels: %w", err))
		return
	}
	if age := d.Clock().Sub(standing.SyncedAt); age >= 0 && age < syncPause {
		noticed(w, channelsPath, "fresh")
		return
	}
	err = d.permitted(v, access.MayTriggerSync).InTx(r.Context(), func(ctx context.Context) error {
		if asked, err := d.SyncAccount(ctx, v.Org.ID); err != nil || !asked {
			return err
		}
		return d.record(ctx, v, "account.sync_requested", v.Org.ID, map[string]any{})
	})
	if err != nil {
		d.fail(w, r, v, err)
		return
	}
	noticed(w, channelsPath, "sync")
}

func (d *Dashboard) adoptChannel(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	err := d.permitted(v, access.MayAdoptChannels).InTx(r.Context(), func(ctx context.Context) error {
		adopted, err := d.Channels.Adopt(ctx, v.Org.ID, r.PathValue("slug"))
		if err != nil {
			return err
		}
		return d.record(ctx, v, "channel.adopted", adopted.ID, map[string]any{"slug": adopted.Slug, "identities": adopted.Identities})
	})
	if err != nil {
		d.fail(w, r, v, err)
		return
	}
	noticed(w, channelsPath, "adopted")
}
