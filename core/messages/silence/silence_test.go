package silence_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/messages/silence"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// slugs knows one channel, whose slug differs from its name.
type slugs struct{}

func (slugs) ChannelSlug(_ context.Context, _, name string) (string, error) {
	if name != "Autumn_Sale" {
		return "", core.NotFound("channel")
	}
	return "autumn-sale", nil
}

// TestSilentChannels checks which channels count as silent: by the number of messages
// without an outcome, and by the time at which these were sent.
func TestSilentChannels(t *testing.T) {
	t.Parallel()
	db, org, now := storagetest.SQLite(t), core.NewID(), time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
	finder := silence.Finder{Messages: db.Messages(), Slugs: slugs{}, Clock: func() time.Time { return now }}
	record := func(id, channel string, kind messages.EventType, ago time.Duration) {
		t.Helper()
		_, err := db.Messages().RecordEvents(t.Context(), org, []messages.Event{{
			ID: id + string(kind), MessageID: id, Type: kind, OccurredAt: now.Add(-ago), Recipient: "bob@example.net",
			Mail: messages.Mail{From: "news@example.com", To: []string{"bob@example.net"}, SentAt: now.Add(-ago), Channel: channel},
		}}, now)
		if err != nil {
			t.Fatal(err)
		}
	}
	send := func(channel string, n int, ago time.Duration) {
		t.Helper()
		for i := range n {
			record(fmt.Sprintf("%s-%d", channel, i), channel, messages.Send, ago)
		}
	}
	want := func(silent ...string) {
		t.Helper()
		got, err := finder.SilentChannels(t.Context(), org)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(silent, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	send("few", 4, 5*time.Hour)
	send("new", 9, 2*time.Hour)
	send("old", 9, 25*time.Hour)
	send("", 9, 5*time.Hour)
	want()
	send("Autumn_Sale", 5, 5*time.Hour)
	send("unknown", 5, 23*time.Hour)
	want("autumn-sale", "unknown")
	record("Autumn_Sale-0", "Autumn_Sale", messages.Delivery, 5*time.Hour)
	want("unknown")
}
