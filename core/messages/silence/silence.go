// Package silence finds the channels of a sending account whose events stopped arriving. It
// reads messages and changes nothing.
package silence

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
)

const (
	// window is how long ago the oldest messages were sent that decide whether a channel is
	// silent. The newest of them were sent [messages.AnswerWithin] ago.
	window = 24 * time.Hour
	// minMessages is the minimum number of messages without an outcome of a silent channel.
	// Single messages lack one for other reasons, such as a slow server.
	minMessages = 5
	// maxMessages is the maximum number of messages without an outcome that are read.
	maxMessages = 200
)

// Messages reads messages; see [messages.Store].
type Messages interface {
	Messages(ctx context.Context, orgID string, f messages.Filter) ([]messages.Message, error)
}

// Slugs translates the provider's names of channels; see [messages.ChannelNames].
type Slugs interface {
	ChannelSlug(ctx context.Context, orgID, name string) (string, error)
}

// Finder finds silent channels. All fields are required.
type Finder struct {
	Messages Messages
	Slugs    Slugs
	Clock    core.Clock
}

// SilentChannels returns the slugs of the channels that stopped reporting: of the messages
// that were sent between 24 and 3 hours ago, at least five have no event but their Send. A
// delivery or a bounce is usually reported within minutes, so the events of such a channel
// probably do not reach Mailhelm. The slugs are sorted. A channel that Mailhelm does not know
// has the provider's name.
func (f Finder) SilentChannels(ctx context.Context, orgID string) ([]string, error) {
	now := f.Clock().UTC()
	sent, err := f.Messages.Messages(ctx, orgID, messages.Filter{
		Window: core.Window{From: now.Add(-window), To: now.Add(-messages.AnswerWithin)}, Status: messages.Send, Limit: maxMessages,
	})
	if err != nil {
		return nil, fmt.Errorf("messages without an outcome: %w", err)
	}
	counts, silent := map[string]int{}, map[string]bool{}
	for _, message := range sent {
		if counts[message.Channel]++; message.Channel == "" || counts[message.Channel] != minMessages {
			continue
		}
		slug, err := f.Slugs.ChannelSlug(ctx, orgID, message.Channel)
		switch {
		case core.IsNotFound(err):
			slug = message.Channel
		case err != nil:
			return nil, fmt.Errorf("slug of a channel: %w", err)
		}
		silent[slug] = true
	}
	return slices.Sorted(maps.Keys(silent)), nil
}
