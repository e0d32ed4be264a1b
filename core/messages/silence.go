package messages

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

const (
	// silenceWindow is the time of sending, counted back from now, whose messages decide
	// whether a channel is silent. It ends answerWithin ago.
	silenceWindow = 24 * time.Hour
	// silentMessages is the number of messages without an outcome from which on a channel is
	// silent. Single messages lack one for other reasons, such as a slow server.
	silentMessages = 5
	// mostSilent is the number of messages without an outcome that are looked at.
	mostSilent = 200
)

// SilentChannels returns the slugs of the channels that stopped reporting: of the messages
// that were sent between 24 and 3 hours ago, at least five have no event but their Send. A
// delivery or a bounce is usually reported within minutes, so the events of such a channel
// probably do not reach Mailhelm. The slugs are sorted. A channel that Mailhelm does not know
// has the provider's name.
func (m *Messages) SilentChannels(ctx context.Context, orgID string) ([]string, error) {
	now := m.Clock().UTC()
	sent, err := m.Store.Messages(ctx, orgID, Filter{
		Window: core.Window{From: now.Add(-silenceWindow), To: now.Add(-answerWithin)}, Status: Send, Limit: mostSilent,
	})
	if err != nil {
		return nil, fmt.Errorf("messages without an outcome: %w", err)
	}
	counts, silent := map[string]int{}, map[string]bool{}
	for _, message := range sent {
		if counts[message.Channel]++; message.Channel == "" || counts[message.Channel] != silentMessages {
			continue
		}
		slug, err := m.slugOf(ctx, orgID, message.Channel)
		if err != nil {
			return nil, err
		}
		silent[slug] = true
	}
	return slices.Sorted(maps.Keys(silent)), nil
}
