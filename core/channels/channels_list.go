package channels

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// ListChannelsIn has the size and the cursor of a page of channels.
type ListChannelsIn struct{ PageIn }

func (c *Channels) channelsList() core.Operation {
	return core.Declare(core.Op[ListChannelsIn, core.Page[Channel]]{
		Name:    "channels_list",
		Title:   "List channels",
		Purpose: "Pages through the channels, newest first. Each is one configuration set of the sending account, as of the last sync.",
		Example: `{"limit": 2}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.ChannelsView},
		Do: func(ctx context.Context, call *core.Call, in ListChannelsIn) (core.Page[Channel], error) {
			return pageOf(in.PageIn, "channels", func(after *core.After, limit int) ([]Channel, error) {
				return c.Store.Channels(ctx, call.Principal.Org.ID, after, limit)
			}, func(ch Channel) core.After { return core.After{At: ch.CreatedAt, ID: ch.ID} })
		},
	})
}

// GetChannelIn names a channel.
type GetChannelIn struct {
	Name string `json:"name" jsonschema:"minLength=1,maxLength=256" jsonschema_description:"The channel's slug."`
}

func (c *Channels) channelsGet() core.Operation {
	return core.Declare(core.Op[GetChannelIn, Channel]{
		Name:    "channels_get",
		Title:   "Read a channel",
		Purpose: "Reads one channel by its slug, as of the last sync.",
		Example: `{"name": "marketing"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.ChannelsView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, call *core.Call, in GetChannelIn) (Channel, error) {
			return c.Store.Channel(ctx, call.Principal.Org.ID, ChannelKey{Slug: in.Name})
		},
	})
}
