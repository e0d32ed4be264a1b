package messages

import (
	"context"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// channelName returns the provider's name of the channel with the given id, "" for an
// unknown channel.
func (m *Messages) channelName(ctx context.Context, c *core.Call, id string) (string, error) {
	if m.Channels == nil {
		return "", nil
	}
	name, err := m.Channels.ChannelName(ctx, c.Principal.Org.ID, strings.ToLower(id))
	if isNotFound(err) {
		return "", nil
	}
	return name, err
}

// channelOf returns the provider's name of a channel, given the channel's slug or id. It
// fails with core.CodeNotFound for an unknown channel, because an empty search result would
// suggest that the channel sent nothing.
func (m *Messages) channelOf(ctx context.Context, c *core.Call, reference string) (string, error) {
	err := error(core.NotFound("channel"))
	name := ""
	if m.Channels != nil {
		name, err = m.Channels.ChannelNameOf(ctx, c.Principal.Org.ID, reference)
	}
	if isNotFound(err) {
		return "", core.NotFound("channel").WithNext("Leave `channel` out to search the messages of all channels.")
	}
	return name, err
}

// nameChannels replaces the provider's channel names in records by Mailhelm's slugs. A
// channel that Mailhelm does not know keeps the provider's name.
func (m *Messages) nameChannels(ctx context.Context, c *core.Call, records []Record) error {
	if m.Channels == nil {
		return nil
	}
	slugs := map[string]string{"": ""}
	for i, r := range records {
		slug, asked := slugs[r.Channel]
		if !asked {
			var err error
			slug, err = m.Channels.ChannelSlug(ctx, c.Principal.Org.ID, r.Channel)
			switch {
			case isNotFound(err):
				slug = r.Channel
			case err != nil:
				return err
			}
			slugs[r.Channel] = slug
		}
		records[i].Channel = slug
	}
	return nil
}

func isNotFound(err error) bool {
	return err != nil && core.AsError(err).Code == core.CodeNotFound
}
