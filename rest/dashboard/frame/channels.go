package frame

import (
	"net/http"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
)

// Channel has the members of a sending channel that pages of several rooms show.
type Channel struct {
	ID     string `json:"id"`
	Slug   string `json:"slug"`
	Status string `json:"status"`
}

// Channels are the channels of an organization.
type Channels []Channel

// Channels returns the organization's channels. It returns none if the visitor may not view
// them.
func (f *Frame) Channels(r *http.Request, v people.Visitor) (Channels, error) {
	if !v.Member.Has(members.MayViewSending) {
		return nil, nil
	}
	return ReadAll[Channel](f, r, v, "channels_list")
}

// ReadableChannels returns the organization's channels for a filter. It returns none if the
// visitor may not view them or they cannot be read, because the rest of the page is useful
// without the filter.
func (f *Frame) ReadableChannels(r *http.Request, v people.Visitor) Channels {
	channels, err := f.Channels(r, v)
	if err != nil {
		return nil
	}
	return channels
}

// IDOf returns the id of the channel with this slug in any case, and "" for "". It fails with
// validation_failed for an unknown slug.
func (c Channels) IDOf(slug string) (string, error) {
	if slug == "" {
		return "", nil
	}
	for _, channel := range c {
		if strings.EqualFold(channel.Slug, slug) {
			return channel.ID, nil
		}
	}
	return "", core.Invalid("channel", Quoted(slug)+" does not exist, or you may not view channels").WithNext("Choose another channel.")
}

// Options returns the options of a filter by channel, with the chosen slug marked.
func (c Channels) Options(chosen string) []Option {
	options := make([]Option, 0, len(c))
	for _, channel := range c {
		options = append(options, Option{Value: channel.Slug, Name: PlainName(channel.Slug)})
	}
	return ChooseOption(options, chosen)
}
