package backfill_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/importing/backfill"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var now = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return now }

func sent(n int) string {
	return fmt.Sprintf(`{"eventType":"Send","mail":{"timestamp":"2026-03-02T11:00:00Z","messageId":"m-%d","source":"a@b.example","destination":["c@d.example","e@f.example"]},"send":{}}`, n)
}

func taker(db *storage.DB) *messages.Messages {
	return messages.New(messages.Config{Store: db.Messages(), Transactor: db, Clock: clock})
}

// fileWithAllLines returns a file with every kind of line: plain, wrapped and duplicate
// events, empty lines, malformed lines and lines that are too long.
func fileWithAllLines(t *testing.T) []byte {
	t.Helper()
	wrapped, err := json.Marshal(map[string]string{"Type": "Notification", "TopicArn": "arn:x", "Message": sent(2)})
	if err != nil {
		t.Fatal(err)
	}
	return []byte(strings.Join([]string{
		sent(1), "", string(wrapped), `{"detail":` + sent(3) + "}", "not json", sent(1), "  \t\r",
		`{"eventType":"Send","mail":{}}`, strings.Repeat("x", 600<<10), "\xff\x00", sent(4) + strings.Repeat(" ", 600<<10),
		"Successfully validated SNS topic for Amazon SES event publishing.", sent(5),
	}, "\n"))
}

func TestRun(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write(fileWithAllLines(t)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	cfg := backfill.Config{Events: taker(db), OrgID: "org", Clock: clock}
	want := backfill.Summary{Lines: 11, Events: 10, New: 8, Duplicates: 2, Malformed: 5, MalformedLines: []int{5, 8, 9, 10, 11}, FailedLines: []int{}}
	got, err := backfill.Run(t.Context(), cfg, bytes.NewReader(fileWithAllLines(t)))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	want.New, want.Duplicates = 0, 10
	if got, err = backfill.Run(t.Context(), cfg, &zipped); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("the same again, compressed: %+v, %v", got, err)
	}
	if got, err = backfill.Run(t.Context(), cfg, strings.NewReader("")); err != nil || got.Lines > 0 {
		t.Errorf("nothing: %+v, %v", got, err)
	}
	if _, err = backfill.Run(t.Context(), cfg, strings.NewReader("\x1f\x8b\x00")); err == nil {
		t.Error("what only begins as gzip passes")
	}
}

// cannot is a recorder that always fails for the message m-7. If until is not 0, the
// recorder fails for every message after its first until calls.
type cannot struct {
	*messages.Messages
	calls, until int
}

var errStore = errors.New("disk full")

func (c *cannot) Record(ctx context.Context, orgID string, events []messages.Event) (messages.Recorded, error) {
	if c.calls++; c.until > 0 && c.calls > c.until {
		return messages.Recorded{}, errStore
	}
	for _, e := range events {
		if e.MessageID == "m-7" {
			return messages.Recorded{}, errStore
		}
	}
	return c.Messages.Record(ctx, orgID, events)
}

func sentLines(n int) *strings.Reader {
	var file strings.Builder
	for i := range n {
		file.WriteString(sent(i) + "\n")
	}
	return strings.NewReader(file.String())
}

// TestRunFaults checks that Run continues after an event that cannot be stored, and gives
// up if the database is unavailable or ctx has ended.
func TestRunFaults(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	progressCalls := 0
	cfg := backfill.Config{Events: &cannot{Messages: taker(db)}, OrgID: "org", Clock: clock, Progress: func(backfill.Summary) { progressCalls++ }}
	got, err := backfill.Run(t.Context(), cfg, sentLines(600))
	want := backfill.Summary{Lines: 600, Events: 1200, New: 1198, MalformedLines: []int{}, Failed: 1, FailedLines: []int{8}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" || progressCalls < 3 {
		t.Errorf("%v, told %d times (-want +got):\n%s", err, progressCalls, diff)
	}

	cfg.OrgID, cfg.Events = "other", &cannot{Messages: taker(storagetest.SQLite(t)), until: 2}
	got, err = backfill.Run(t.Context(), cfg, sentLines(5000))
	if !errors.Is(err, errStore) || got.Lines >= 5000 || got.Failed != 20 {
		t.Errorf("the database is gone: %+v, %v", got, err)
	}

	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err = backfill.Run(ctx, cfg, sentLines(10)); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}
