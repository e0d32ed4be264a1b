package messages_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/messages"
)

// TestSilentChannels checks which channels count as silent: by the number of messages
// without an outcome, and by the time at which these were sent.
func TestSilentChannels(t *testing.T) {
	t.Parallel()
	d := setup(t)
	all := messages.New(messages.Config{Store: d.db.Messages(), Transactor: d.db, Clock: func() time.Time { return now }, Channels: d})
	send := func(channel string, n int, ago time.Duration) {
		for i := range n {
			e := other(fmt.Sprintf("%s-%d-%d", channel, i, ago), timeBefore(ago))
			e.Mail.Channel = channel
			d.record(e)
		}
	}
	send("few", 4, 5*time.Hour)
	send("new", 9, 2*time.Hour)
	send("old", 9, 25*time.Hour)
	send("", 9, 5*time.Hour)
	silent := func() []string {
		t.Helper()
		slugs, err := all.SilentChannels(t.Context(), d.org.ID)
		if err != nil {
			t.Fatal(err)
		}
		return slugs
	}
	if got := silent(); len(got) > 0 {
		t.Errorf("silent: %q", got)
	}
	send("Autumn_Sale", 5, 5*time.Hour)
	send("unknown", 5, 23*time.Hour)
	if diff := cmp.Diff([]string{"autumn-sale", "unknown"}, silent()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	answered := other("Autumn_Sale-0-"+fmt.Sprint(int(5*time.Hour)), timeBefore(5*time.Hour))
	answered.ID, answered.Type, answered.Mail.Channel = "delivered", messages.Delivery, "Autumn_Sale"
	d.record(answered)
	if diff := cmp.Diff([]string{"unknown"}, silent()); diff != "" {
		t.Errorf("after a delivery (-want +got):\n%s", diff)
	}
}
